# test_navigating_page.sh - what docs/navigating.md shows is what comes: outputs of commands, screens of the
# browser (where there is a terminal to show them), and every section that is linked to exists.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/typed.sh"
if trod browse x </dev/null 2>&1 | grep -q 'without ncursesw' || ! command -v tmux >/dev/null; then
    echo "no ncursesw or no tmux: the screens are not compared"
else
    . "$TROD_SOURCE/tests/cli/browser.sh"
fi

ln -s "$TROD_SOURCE/examples" examples
page=$TROD_SOURCE/docs/navigating.md
check test "$(grep -c '^\$ trod ' "$page")" -ge 15
check test "$(grep -c '^<!-- screen: ' "$page")" -ge 5
typed "$page" 1

# links to sections, as "name.md#section"; of the page itself as "#section"
anchors() {
    awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ /, ""); print }' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}
for file in "$TROD_SOURCE"/docs/*.md "$TROD_SOURCE/README.md"; do
    grep -o '](\(docs/\)\?[a-z/-]*\(\.md\)\?#[^)]*)' "$file" | tr -d '()]' | while IFS='#' read -r target section; do
        target=$(dirname "$file")/${target:-$(basename "$file")}
        anchors "$target" | grep -q -x -e "$section" || echo "${file##*/}: ${target##*/}#$section"
    done
done >dangling
last="links to sections"
out_is_empty() { cat "$1"; [[ ! -s $1 ]]; }
check out_is_empty dangling
finish
