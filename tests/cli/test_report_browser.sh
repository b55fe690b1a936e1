# test_report_browser.sh - the page of trod report in a browser: what it draws are the numbers of the JSON,
# no message of the console, keys, search, sorting, dark mode, print. The picture of trod flame: click, search, reset.
. "$TROD_SOURCE/tests/cli/lib.sh"
have chromium jq python3
export HOME=$tmp
browse() { # ARGUMENT... PAGE
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$tmp/profile" --enable-logging=stderr "${@:1:$#-1}" "file://$tmp/${*: -1}" 2>console
}

# two functions that call each other in turns, loads with a stride; names that look like markup
awk 'function i(pc, op) { n++; printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, n, pc, pc, op }
     BEGIN { for (t = 0; t < 300; t++) {
                 i(32768, "94000400"); i(36864, "f9400041")
                 printf "%d clk cpu0 MR8 %08x:%012x_NS 00000000_00000000\n", n, 65536 + 64 * t, 65536 + 64 * t
                 for (k = 0; k < t % 7; k++) i(36868 + 4 * k, "91000421")
                 i(36868 + 4 * k, "d65f03c0"); i(32772, "17ffffff") } }' >calls.tarmac
run trod report -o p.html calls.tarmac
status 0
trod report --format json calls.tarmac >p.json
browse --dump-dom p.html >drawn.html
check python3 "$TROD_SOURCE/tests/cli/report_page.py" drawn.html p.json drawn
grep CONSOLE console >messages
check test ! -s messages
check test "$(grep -o '<svg' drawn.html | wc -l)" -ge 8
check test "$(grep -o '<polyline' drawn.html | wc -l)" -ge 5

# what a reader does: zoom and go back in the flame graph by keys, search, read a curve, sort a table
sed '/<\/body>/d' p.html >q.html
cat >>q.html <<'JS'
<script>
'use strict';
const said = [], $ = s => document.querySelector(s), flame = $('svg.flame');
const key = (to, k) => to.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true}));
const shown = () => [...flame.querySelectorAll('g')].filter(g => g.style.display !== 'none').length;
const line = () => flame.closest('figure').querySelector('output').textContent;
flame.querySelector('g').focus();
said.push(shown());
key(flame, 'ArrowDown'); key(flame, 'ArrowDown'); said.push(line());
key(flame, 'Enter'); said.push(document.activeElement.querySelector('rect').getAttribute('width'));
key(flame, 'Escape'); said.push(shown());
const search = $('.tools input');
search.value = '9000'; search.dispatchEvent(new Event('input')); said.push(line());
said.push(flame.querySelectorAll('.hit').length);
const curve = $('#locality svg');
key(curve, 'End'); said.push(curve.closest('figure').querySelector('output').textContent);
const th = $('#mix [data-path="mix.mnemonics"] th'), first = () => $('#mix [data-path="mix.mnemonics"] td').textContent.trim();
said.push(first()); th.querySelector('button').click(); said.push(first(), th.getAttribute('aria-sort'));
said.push(matchMedia('(prefers-color-scheme:dark)').matches, getComputedStyle(document.body).backgroundColor);
said.push([...document.querySelectorAll('a[href^="#"]')].every(a => document.getElementById(a.hash.slice(1))));
said.push([...document.querySelectorAll('svg')].every(s => s.getAttribute('aria-label')));
document.body.append(Object.assign(document.createElement('pre'), {id: 'said', textContent: JSON.stringify(said)}));
</script></body></html>
JS
browse --blink-settings=preferredColorScheme=0 --dump-dom q.html | sed -n 's/.*<pre id="said">\(.*\)<\/pre>.*/\1/p' |
    sed 's/&gt;/>/g' >"$stdout"
check test "$(grep -c CONSOLE console)" = 0
# the function called has 2 instructions and 0 to 6 more, by turns: 600 + 42 * 21 + 15 of 2097
json '.[0] == 3 and .[3] == 3'
total=$(jq '.flame.frames[] | select(.name == "0x9000") | .total' p.json)
check jq -e --argjson n "$total" '$n == 1497 and .mix.instructions == $n + 600' p.json
json ".[1] | startswith(\"0x9000: $total instructions, 71.39 % of all; itself $total\")"
json '.[2] == "1199.6"'
json ".[4] == \"1 functions match: $total instructions, 71.39 % of all\" and .[5] == 1"
json '.[6] | test("^bytes [0-9]+ \\([0-9.]+K\\): miss ratio 0[.][0-9]+, instr [0-9.]+, data 1$")'
json '.[8] <= .[7] and .[9] == "ascending"'
json '.[10] == true and .[11] == "rgb(23, 24, 28)" and .[12] and .[13]'

# two traces side by side, curves of both in one drawing
head -n 1500 calls.tarmac >less.tarmac
run trod report -o two.html --against less.tarmac calls.tarmac
status 0
trod report --format json --against less.tarmac calls.tarmac >two.json
browse --dump-dom two.html >drawn.html
check test "$(grep -c CONSOLE console)" = 0
check python3 "$TROD_SOURCE/tests/cli/report_page.py" drawn.html two.json drawn
check test "$(grep -o 'data-path="second.locality.miss_ratio_curve"' drawn.html | wc -l)" = 5
check grep -q 'red: a larger part than in the first' drawn.html

# the picture of trod flame: a click on what is seen zooms, Search marks, Reset zoom and Escape go back
cat >said.js <<'JS'
<script><![CDATA[
'use strict';
{
const said = [], $ = s => document.querySelector(s), texts = id => $(id).textContent;
const shown = () => [...document.querySelectorAll('.f')].filter(g => getComputedStyle(g).display !== 'none');
const frame = name => shown().find(g => g.dataset.n === name);
const width = name => Math.round(frame(name).querySelector('rect').getBoundingClientRect().width);
const seen = e => { const r = e.getBoundingClientRect(); return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2); };
const click = e => seen(e).dispatchEvent(new MouseEvent('click', {bubbles: true}));
const key = (k, more) => document.documentElement.dispatchEvent(
    new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true, ...more}));
const hits = () => document.querySelectorAll('.hit').length;
const visible = e => getComputedStyle(e).display !== 'none';
said.push(shown().map(g => g.dataset.n), visible($('#reset')));
click(frame(OUTER)); said.push(width(OUTER), visible($('#reset')));
click(frame(INNER)); said.push(width(INNER), width(OUTER), shown().length, visible($('#reset')));
click($('#reset')); said.push(shown().length, visible($('#reset')), width(INNER));
window.prompt = () => SEARCH;
click($('#search')); said.push(hits(), texts('#matched'), getComputedStyle($('.hit rect')).fill);
click(frame(INNER)); said.push(hits());
window.prompt = () => null;
key('f', {ctrlKey: true}); said.push(hits());
key('Escape'); said.push(hits(), texts('#matched'), shown().length);
window.prompt = () => '(';
click($('#search')); said.push(texts('#matched').startsWith('SyntaxError'));
window.prompt = () => '.';
click($('#search')); said.push(hits(), texts('#matched'));
said.push(shown().filter(g => g.querySelector('text').getComputedTextLength() >
                              g.querySelector('rect').getBoundingClientRect().width).map(g => g.dataset.n));
frame(INNER).querySelector('rect').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
said.push(texts('#about'));
const pre = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
pre.id = 'said'; pre.textContent = JSON.stringify(said); document.documentElement.append(pre);
}
]]></script></svg>
JS
in_picture() { # OUTER INNER SEARCH TROD-FLAME-ARGUMENT...: what the script says, to standard output
    trod flame --svg "${@:4}" >flame.svg
    { sed '/<\/svg>/d' flame.svg
      sed "s/\bOUTER\b/'$1'/g; s/\bINNER\b/'$2'/g; s/\bSEARCH\b/'$3'/g" said.js; } >asked.svg
    browse --window-size=1300,800 --dump-dom asked.svg | sed -n 's/.*<desc id="said">\(.*\)<\/desc>.*/\1/p' |
        sed 's/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' >"$stdout"
    check test "$(grep -c CONSOLE console)" = 0
}
in_picture 0x8000 0x9000 9000 calls.tarmac
json '.[0] == ["all", "0x8000", "0x9000"] and .[1] == false'
json '.[2] == 1200 and .[3] == false' # it was as wide before
json '.[4] == 1200 and .[5] == 1200 and .[6] == 3 and .[7]'
json '.[8] == 3 and .[9] == false and .[10] == 857' # 1200 * 1497 / 2097
json '.[11] == 1 and .[12] == "1 functions match, 71.39 %" and .[13] == "rgb(221, 0, 255)"'
json '.[14] == 1 and .[15] == 1' # zooming keeps what was found, so does a question given up
json '.[16] == 0 and .[17] == "" and .[18] == 3'
json '.[19] and .[20] == 2 and .[21] == "2 functions match, 100.00 %"' # "all" is no function
json '.[22] == [] and (.[23] | startswith("0x9000 (1497 instructions, 71.39 %)"))'
# of two traces, and from the innermost on; a name longer than what it stands in ends within it
in_picture 0x8000 0x9000 8000 --against less.tarmac calls.tarmac
json '.[0] == ["all", "0x8000", "0x9000"] and (.[23] | test("; before "))'
in_picture 0x9000 0x8000 8000 --reverse calls.tarmac
json '.[11] == 2 and .[22] == []'
if command -v as >/dev/null && command -v ld >/dev/null && [[ $(uname -m) == x86_64 ]]; then
    long=$(printf 'W%.0s' $(seq 200))
    printf '.globl _start\n.type %s,@function\n_start:\n%s: .skip 16\n.size %s,16\n' "$long" "$long" "$long" >long.s
    as -o long.o long.s && ld -Ttext=0x9000 -o long.elf long.o
    in_picture 0x8000 "$long" WWW --symbols long.elf calls.tarmac
    json '.[11] == 1 and .[22] == []'
fi

browse --window-size=1200,3000 --screenshot="$tmp/page.png" p.html
check test "$(head -c 4 page.png | tail -c 3)" = PNG
check test "$(wc -c <page.png)" -gt 20000
browse --print-to-pdf="$tmp/page.pdf" p.html
check test "$(head -c 4 page.pdf)" = %PDF
finish
