/*
 * stacks_svg.c - folded stacks as a flame graph in SVG (trod/flame.h).
 *
 * The idea and the look are those of Brendan Gregg's flame graphs ("The Flame Graph", CACM 59:6);
 * the script in the picture is written for it. Rectangles carry their place and width as numbers
 * (data-x, data-w, in counts) so that the script can draw any part of them at any width.
 */
#include "callstack/stacks.h"

#include "core/hash.h"
#include "core/slab.h"
#include "trod/buf.h"
#include "trod/put.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 17, TOP = 64, BOTTOM = 30, MARGIN = 10 };

/* Pixels of a character, where the script cannot measure it. */
static const double char_width = 7.3;

struct picture {
    const struct trod_flame *f;
    struct trod_flame_options opt;
    uint64_t (*total)[STACKS_SIDES];
    double scale;    /* counts of the first trace */
    uint64_t all;    /* counts that the width stands for */
    unsigned rows;   /* of the picture */
    uint64_t hidden; /* functions too narrow to be shown */
    unsigned side;   /* that gives the widths */
    struct trod_buf *out;
};

static const char style[] =
    "<style>\n"
    "svg{background:#fff;font:12px monospace}\n"
    "text{fill:#111}\n"
    ".f text{pointer-events:none}\n"
    ".f rect{stroke:#fff;stroke-width:.5;cursor:pointer}\n"
    ".f:hover rect{stroke:#000;stroke-width:1}\n"
    ".hit rect{fill:#d0f!important}\n"
    ".past{opacity:.5}\n"
    ".b{cursor:pointer;fill:#06c}\n"
    "#title{font-size:16px}\n"
    "@media(prefers-color-scheme:dark){svg{background:#1b1b1f}.o text,.o{fill:#ddd}"
    ".f rect{stroke:#1b1b1f}.f:hover rect{stroke:#fff}.b{fill:#7bf!important}}\n"
    "</style>\n";

static const char script[] =
    "<script><![CDATA[\n"
    "'use strict';\n"
    "const svg=document.documentElement,all=[...document.querySelectorAll('.f')];\n"
    "const root=document.getElementById('frames'),W=+svg.dataset.width;\n"
    "const word=document.getElementById('search');\n"
    "const C=(word.getComputedTextLength?word.getComputedTextLength()/6:0)||7.3;\n"
    "const full=+svg.dataset.all;let from=0,span=full,level=0;\n"
    "for(const g of all){g.x=+g.dataset.x;g.w=+g.dataset.w;g.d=+g.dataset.d;\n"
    " g.r=g.querySelector('rect');g.t=g.querySelector('text');g.n=g.dataset.n;}\n"
    "function label(g,w){const n=Math.floor((w-4)/C);\n"
    " g.t.textContent=n<3?'':g.n.length<=n?g.n:g.n.slice(0,n-2)+'..';}\n"
    "function draw(){for(const g of all){let a=(g.x-from)/span,b=(g.x+g.w-from)/span;\n"
    " const past=g.d<level&&a<=1e-9&&b>=1-1e-9;\n"
    " if((g.d<level&&!past)||b<=0||a>=1){g.style.display='none';continue;}\n"
    " a=Math.max(a,0);b=Math.min(b,1);const w=(b-a)*W;\n"
    " g.style.display=w<.1?'none':'';g.classList.toggle('past',past);\n"
    " g.r.setAttribute('x',10+a*W);g.r.setAttribute('width',w);g.t.setAttribute('x',13+a*W);\n"
    " label(g,w);}\n"
    " document.getElementById('reset').style.display=span<full?'':'none';}\n"
    "function zoom(g){from=g.x;span=g.w;level=g.d;draw();}\n"
    "function reset(){from=0;span=full;level=0;draw();}\n"
    "function search(s){let sum=0,end=-1;const m=document.getElementById('matched');\n"
    " let re=null;try{if(s)re=new RegExp(s,'i');}catch(e){m.textContent=String(e);return;}\n"
    " const hits=[];for(const g of all){const h=!!re&&g.d>0&&re.test(g.n);\n"
    "  g.classList.toggle('hit',h);if(h)hits.push(g);}\n"
    " hits.sort((a,b)=>a.x-b.x||b.w-a.w);\n"
    " for(const g of hits)if(g.x>=end){sum+=g.w;end=g.x+g.w;}\n"
    " m.textContent=re?hits.length+' functions match, '+(100*sum/full).toFixed(2)+' %':'';}\n"
    "function ask(){const s=prompt('Search (regular expression)','');if(s!==null)search(s);}\n"
    "root.addEventListener('click',e=>{const g=e.target.closest('.f');if(g)zoom(g);});\n"
    "root.addEventListener('mouseover',e=>{const g=e.target.closest('.f');\n"
    " if(g)document.getElementById('about').textContent="
    "g.querySelector('title').textContent.replace(/\\n/g,'  ');});\n"
    "document.getElementById('reset').addEventListener('click',reset);\n"
    "document.getElementById('search').addEventListener('click',ask);\n"
    "addEventListener('keydown',e=>{if((e.ctrlKey||e.metaKey)&&e.key==='f'){e.preventDefault();ask("
    ");}\n"
    " else if(e.key==='Escape'){search('');reset();}});\n"
    "draw();\n"
    "]]></script>\n";

/* ---- text */

/* Length of the character at P that is more than a byte and that XML allows; 0: there is none. */
static size_t wide_character(const char *p, size_t n)
{
    const size_t len = (unsigned char)*p > 0x7f ? trod_utf8_len((const uint8_t *)p, n) : 0;

    /* U+FFFE and U+FFFF are none (XML 1.0, 2.2) */
    return len == 3 && memcmp(p, "\xef\xbf", 2) == 0 && (unsigned char)p[2] >= 0xbe ? 0 : len;
}

/* The N bytes at P for XML; what it does not allow becomes '?'. */
static int put_text(struct trod_buf *out, const char *p, size_t n)
{
    int rc = TROD_OK;

    for (size_t i = 0, len; rc == TROD_OK && i < n; i += len ? len : 1) {
        const unsigned char c = (unsigned char)p[i];

        len = wide_character(p + i, n - i);
        if (len)
            rc = trod_buf_add(out, p + i, len);
        else if (c == '&')
            rc = trod_buf_add(out, "&amp;", 5);
        else if (c == '<')
            rc = trod_buf_add(out, "&lt;", 4);
        else if (c == '>')
            rc = trod_buf_add(out, "&gt;", 4);
        else if (c == '"')
            rc = trod_buf_add(out, "&quot;", 6);
        else if (c < 0x20 || c >= 0x7f)
            rc = trod_buf_add(out, "?", 1);
        else
            rc = trod_buf_add(out, p + i, 1);
    }
    return rc;
}

static double percent(uint64_t n, uint64_t all)
{
    return all ? 100.0 * (double)n / (double)all : 0;
}

/* ---- colours: warm ones by name; of two traces red for more, blue for less */

static void colour(const struct picture *k, uint32_t node, unsigned rgb[3])
{
    const struct stacks_node *n = &k->f->node[node];
    const uint64_t h = trod_fnv(TROD_FNV, k->f->names + n->name, n->len);

    if (!k->opt.both) {
        rgb[0] = 205 + (unsigned)(h >> 8) % 50;
        rgb[1] = 90 + (unsigned)(h >> 20) % 130;
        rgb[2] = 40 + (unsigned)(h >> 32) % 40;
        return;
    }
    const double a = (double)k->total[node][0] * k->scale, b = (double)k->total[node][1];
    const double most = a > b ? a : b;
    const unsigned pale = most > 0 ? (unsigned)(240 - 170 * (a > b ? a - b : b - a) / most) : 240;

    rgb[0] = b >= a ? 250 : pale;
    rgb[1] = pale;
    rgb[2] = b > a ? pale : 250;
    if (a == b)
        rgb[0] = rgb[1] = rgb[2] = 225;
}

/* ---- functions */

static int put_about(const struct picture *k, uint32_t node)
{
    const uint64_t *t = k->total[node];
    int rc = trod_buf_printf(k->out, " (%llu %s, %.2f %%", (unsigned long long)t[k->side],
                             k->opt.unit, percent(t[k->side], k->all));

    if (rc == TROD_OK && k->opt.both)
        rc = trod_buf_printf(k->out, "; before %llu",
                             (unsigned long long)stacks_scaled(t[0], k->scale));
    return rc < 0 ? rc : trod_buf_printf(k->out, ")");
}

static int put_frame(struct picture *k, uint32_t node, uint64_t x, unsigned depth)
{
    const struct stacks_node *n = &k->f->node[node];
    const char *name = node ? k->f->names + n->name : "all";
    const size_t len = node ? n->len : 3;
    const uint64_t w = k->total[node][k->side];
    const double px = k->all ? (double)WIDTH / (double)k->all : 0;
    unsigned rgb[3] = {200, 200, 200};
    int rc;

    if (node)
        colour(k, node, rgb);
    rc = trod_buf_printf(k->out,
                         "<g class=\"f\" data-x=\"%llu\" data-w=\"%llu\" data-d=\"%u\" "
                         "data-n=\"",
                         (unsigned long long)x, (unsigned long long)w, depth);
    if (rc == TROD_OK)
        rc = put_text(k->out, name, len);
    if (rc == TROD_OK)
        rc = trod_buf_printf(k->out, "\"><title>");
    if (rc == TROD_OK)
        rc = put_text(k->out, name, len);
    if (rc == TROD_OK)
        rc = put_about(k, node);
    if (rc == TROD_OK)
        rc = trod_buf_printf(k->out,
                             "</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
                             "fill=\"rgb(%u,%u,%u)\" rx=\"1\"/><text x=\"%.1f\" y=\"%u\">",
                             MARGIN + (double)x * px, TOP + (k->rows - 1 - depth) * ROW,
                             (double)w * px, ROW - 1, rgb[0], rgb[1], rgb[2],
                             MARGIN + 3 + (double)x * px, TOP + (k->rows - 1 - depth) * ROW + 12);
    if (rc == TROD_OK && (double)w * px > char_width * (double)len + 4)
        rc = put_text(k->out, name, len);
    if (rc == TROD_OK)
        rc = trod_buf_add(k->out, "</text></g>\n", 12);
    return rc < 0 ? rc : trod_buf_pour(k->out);
}

static bool wide(const struct picture *k, uint32_t node)
{
    return k->total[node][k->side] &&
           (double)k->total[node][k->side] * WIDTH >= 0.1 * (double)k->all;
}

/* What lies where: functions to be drawn. */
struct place {
    uint32_t node;
    unsigned depth;
    uint64_t x;
};

/* The functions that are wide enough, outer ones first: *N of them. NULL: no memory. */
static struct place *places(struct picture *k, size_t *n)
{
    struct place *list = malloc(k->f->n * sizeof *list);
    uint32_t *children = malloc(k->f->n * sizeof *children);

    *n = 0;
    if (list && children) {
        list[(*n)++] = (struct place){0, 0, 0};
        for (size_t i = 0; i < *n; i++) {
            const size_t count = stacks_children(k->f, list[i].node, children);
            uint64_t x = list[i].x;

            k->rows = list[i].depth + 1 > k->rows ? list[i].depth + 1 : k->rows;
            for (size_t c = 0; c < count; c++) {
                if (wide(k, children[c]))
                    list[(*n)++] = (struct place){children[c], list[i].depth + 1, x};
                else
                    k->hidden++;
                x += k->total[children[c]][k->side];
            }
        }
    } else {
        free(list);
        list = NULL;
    }
    free(children);
    return list;
}

static int put_head(const struct picture *k)
{
    const unsigned height = TOP + k->rows * ROW + BOTTOM;
    int rc = trod_buf_printf(k->out,
                             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                             "viewBox=\"0 0 %d %u\" data-width=\"%d\" data-all=\"%llu\">\n",
                             WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height, WIDTH,
                             (unsigned long long)k->all);

    if (rc == TROD_OK)
        rc = trod_buf_add(k->out, style, sizeof style - 1);
    if (rc == TROD_OK)
        rc =
            trod_buf_printf(k->out, "<g class=\"o\"><text id=\"title\" x=\"%d\" y=\"24\">", MARGIN);
    if (rc == TROD_OK)
        rc = put_text(k->out, k->opt.title, strlen(k->opt.title));
    if (rc == TROD_OK)
        rc = trod_buf_printf(
            k->out,
            "</text><text id=\"about\" x=\"%d\" y=\"%u\"></text>"
            "<text id=\"matched\" x=\"%d\" y=\"%u\" text-anchor=\"end\"></text></g>\n"
            "<text id=\"reset\" class=\"b\" x=\"%d\" y=\"46\" style=\"display:none\">Reset zoom"
            "</text><text id=\"search\" class=\"b\" x=\"%d\" y=\"24\" text-anchor=\"end\">Search"
            "</text>\n<g id=\"frames\">\n",
            MARGIN, height - 10, WIDTH + MARGIN, height - 10, MARGIN, WIDTH + MARGIN);
    return rc;
}

static int put_picture(struct picture *k)
{
    size_t n;
    struct place *list = places(k, &n);
    int rc = list ? put_head(k) : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = put_frame(k, list[i].node, list[i].x, list[i].depth);
    if (rc == TROD_OK)
        rc = trod_buf_printf(k->out, "</g>\n<!-- functions too narrow to be shown: %llu -->\n",
                             (unsigned long long)k->hidden);
    if (rc == TROD_OK)
        rc = trod_buf_add(k->out, script, sizeof script - 1);
    free(list);
    return rc < 0 ? rc : trod_buf_printf(k->out, "</svg>\n");
}

int trod_flame_svg(const struct trod_flame *f, const struct trod_flame_options *opt,
                   struct trod_buf *out)
{
    struct picture k = {.f = f, .out = out};
    int rc;

    if (!stacks_options(&k.opt, opt))
        return TROD_ERR_USAGE;
    if (!k.opt.title)
        k.opt.title = "trod flame";
    if (!k.opt.unit)
        k.opt.unit = "instructions";
    k.side = k.opt.both ? 1 : 0;
    k.total = stacks_totals(f);
    if (!k.total)
        return TROD_ERR_NOMEM;
    k.scale = stacks_scale(f, &k.opt);
    k.all = k.total[0][k.side];
    rc = put_picture(&k);
    trod_slab_give(k.total, f->n * sizeof *k.total);
    return rc;
}
