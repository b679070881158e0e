/** Of the moving picture. It stands in a page of somebody else, which may be light or dark. */
export const STYLE = `
svg{--paper:#f6f7f9;--sheet:#fff;--soft:#edf1f5;--rim:#d5dce4;--ink:#1b2530;--quiet:#55636f;--accent:#2c5f8a;--good:#1f7a4d;
--good-soft:#e3f3ea;--bad:#b3261e;--bad-soft:#fbe7e5;--lost:#97a3ae;--p0:#3f6fa3;--p1:#7a5ea6;--p2:#8a6a2f;--on:#fff;
font:11px system-ui,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;fill:var(--ink)}
@media(prefers-color-scheme:dark){svg{--paper:#11161c;--sheet:#182029;--soft:#202a35;--rim:#334050;--ink:#e6ecf2;--quiet:#a3b1be;
--accent:#86b7e2;--good:#5cc48f;--good-soft:#1b3529;--bad:#ff8c82;--bad-soft:#422321;--lost:#6b7986;--p0:#7fabd9;--p1:#b39ad9;
--p2:#d0b072;--on:#10161c}}
*{animation-iteration-count:infinite;animation-timing-function:ease-in-out}
text{fill:var(--ink)}
.paper{fill:var(--paper)}
.panel{fill:var(--sheet)}
.title{font-size:15px;font-weight:700}
.mark{font-size:15px;font-weight:700;text-anchor:end}
.sentence{font-size:13px}
.name{font-size:12px;font-weight:600}
.slot{fill:none;stroke:var(--lost);stroke-dasharray:3 3}
.read,.token{text-anchor:middle;fill:var(--quiet)}
.token{font-size:10px;fill:var(--accent)}
.line{fill:none;stroke:var(--lost);stroke-width:2;stroke-dasharray:1 5;stroke-linecap:round}
.box{fill:none;stroke:var(--rim)}
.wheel{fill:var(--ink);stroke:var(--sheet)}
.number{fill:var(--on);font-size:9.5px;font-weight:700;text-anchor:middle}
.tick{fill:var(--good);stroke:var(--sheet)}
.cross{fill:var(--bad);stroke:var(--sheet)}
.stroke{fill:none;stroke:var(--on);stroke-width:1.6}`;
