/// How a report's page looks, in light and in dark, on a desk and on a phone.
enum PageStyle {
    static let css = """
        :root{--ground:#f6f5f1;--sheet:#fff;--ink:#1c1f24;--soft:#5c636e;--rule:#e3e1da;--grid:#ecebe5;\
        --c1:#2a6fb0;--c2:#d98a2b;--c3:#6f5aa8;--c4:#b9bec7;--c5:#bf3f4a;--tint:rgba(42,111,176,.16)}
        @media(prefers-color-scheme:dark){:root{--ground:#121519;--sheet:#1a1e24;--ink:#e9eaec;--soft:#9aa2ae;\
        --rule:#2b313a;--grid:#262b33;--c1:#62a4e4;--c2:#e6a451;--c3:#a08ee0;--c4:#67717f;--c5:#ea6f79;\
        --tint:rgba(98,164,228,.2)}}
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--ground);color:var(--ink);\
        font:15px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        main{max-width:1080px;margin:0 auto;padding:44px 24px 56px}
        h1{font-size:36px;line-height:1.15;letter-spacing:-.02em;margin:0 0 10px;font-weight:680}
        h2{font-size:16px;line-height:1.3;margin:0 0 2px;font-weight:640}
        .kicker{margin:0 0 6px;color:var(--c1);font-size:13px;font-weight:600;letter-spacing:.02em}
        .about{margin:0 0 14px;max-width:64ch;color:var(--soft);font-size:17px}
        .facts{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:2px 22px;color:var(--soft);font-size:13px}
        .tiles{display:grid;grid-template-columns:repeat(6,1fr);margin:30px 0 18px;background:var(--sheet);\
        border:1px solid var(--rule);border-radius:10px;overflow:hidden}
        .tile{padding:16px 18px;border-left:1px solid var(--rule)}
        .tile:first-child{border-left:0}
        .tile h2{font-size:13px;font-weight:500;color:var(--soft)}
        .value{margin:2px 0 0;font-size:25px;line-height:1.25;font-weight:660;letter-spacing:-.015em;\
        font-variant-numeric:tabular-nums;white-space:nowrap}
        .remark{margin:3px 0 0;font-size:12.5px;line-height:1.4;color:var(--soft)}
        .figures{display:grid;grid-template-columns:1fr 1fr;gap:18px}
        figure,.table{margin:0;background:var(--sheet);border:1px solid var(--rule);border-radius:10px;padding:20px 22px 16px;\
        min-width:0}
        .whole{grid-column:1/-1}
        figcaption p,.table>p{margin:0 0 12px;color:var(--soft);font-size:13.5px;max-width:90ch;text-wrap:pretty}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:3px 18px;margin:0 0 10px;padding:0;font-size:13px;\
        color:var(--soft)}
        .legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:7px}
        svg{display:block;width:100%;height:auto;overflow:visible}
        svg.narrow{display:none}
        .half svg.wide{display:none}
        .half svg.narrow{display:block}
        .c1{fill:var(--c1);background:var(--c1)}.c2{fill:var(--c2);background:var(--c2)}
        .c3{fill:var(--c3);background:var(--c3)}.c4{fill:var(--c4);background:var(--c4)}
        .c5{fill:var(--c5);background:var(--c5)}
        .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
        .line.c1{stroke:var(--c1)}.line.c2{stroke:var(--c2)}.line.c3{stroke:var(--c3)}.line.c4{stroke:var(--c4)}
        .line.c5{stroke:var(--c5)}
        .area{opacity:.16}
        .band{fill:var(--tint)}
        .grid{stroke:var(--grid)}.axis{stroke:var(--soft);stroke-opacity:.5}
        .tick{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
        .name{fill:var(--ink);font-size:13px}
        circle.note{fill:var(--sheet);stroke:var(--ink);stroke-width:1.6}
        text.note{fill:var(--ink);font-size:12.5px;font-weight:600;paint-order:stroke;stroke:var(--sheet);stroke-width:4px;\
        stroke-linejoin:round}
        rect:hover{opacity:.8}
        .table{margin-top:18px}
        .scroll{overflow-x:auto;margin:0 -22px;padding:0 22px}
        table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
        th,td{padding:8px 0 8px 20px;text-align:right;border-top:1px solid var(--rule);white-space:nowrap}
        thead th{border-top:0;color:var(--soft);font-weight:500;font-size:13px}
        th:first-child{padding-left:0;text-align:left}
        tbody th{font-weight:500}
        footer{margin-top:26px;color:var(--soft);font-size:13px;overflow-wrap:anywhere}
        @media(max-width:980px){.tiles{grid-template-columns:repeat(3,1fr)}.tile:nth-child(3n+1){border-left:0}\
        .tile:nth-child(n+4){border-top:1px solid var(--rule)}}
        @media(max-width:640px){main{padding:26px 14px 40px}h1{font-size:28px}.about{font-size:16px}\
        .tiles{grid-template-columns:1fr 1fr}.tile{padding:13px 14px}.tile:nth-child(n){border-left:0}\
        .tile:nth-child(2n){border-left:1px solid var(--rule)}.tile:nth-child(n+3){border-top:1px solid var(--rule)}\
        .value{font-size:22px}.figures{grid-template-columns:minmax(0,1fr);gap:12px}figure,.table{padding:16px 14px 12px}\
        .scroll{margin:0 -14px;padding:0 14px}svg.wide{display:none}svg.narrow{display:block}}
        @media print{:root{--ground:#fff}figure,.table{break-inside:avoid}}
        """
}
