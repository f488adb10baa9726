import { finite } from '../data.js';
import { choice, h, replace, scroller, select } from '../dom.js';
import { markup, outputs } from '../export.js';
import { count, metricName, number, withError } from '../format.js';
import { tidy } from '../graph.js';
import { draw, line, linkName, linkSays, nodeName } from '../network.js';
import { onTheme, theme } from '../palette.js';

const costs = ['rounds', 'links_server', 'links_peer', 'slots', 'messages', 'communication_reals', 'bytes_on_wire', 'communication_cost', 'paper_cost', 'waiting_pulls', 'waiting_regret', 'lost_tallies', 'disagreements'];
const own = ['links_server', 'links_peer', 'slots', 'paper_cost', 'waiting_pulls'];

const mean = (p, m) => (p.metrics[m] && finite(p.metrics[m].mean) ? p.metrics[m].mean : null);
const cost = (p, m) => (mean(p, m) === null ? '–' : withError(mean(p, m), p.metrics[m].se));
const listed = (list) => (list.length > 12 ? `${list.slice(0, 12).join(', ')} and ${list.length - 12} more` : list.length > 1 ? `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}` : list.join(''));

/// Says in words what a run lost; empty if it lost nothing.
function losses(p, net) {
  const agents = [...net.lost].filter(Boolean);
  const cut = net.edges.filter((e) => e.cut);
  const on = p.replicates > 1 ? ' on average' : '';
  const [tallies, disagreements] = [mean(p, 'lost_tallies'), mean(p, 'disagreements')];
  const said = [
    agents.length && `${agents.length > 1 ? 'agents' : 'agent'} ${listed(agents)}`, net.lost.has(0) && 'the server',
    cut.length && `the ${cut.length > 1 ? 'links' : 'link'} ${listed(cut.map((e) => linkName(e).replaceAll(' ', '')))}`,
    p.network.lost?.messages > 0 && count(p.network.lost.messages, 'message'),
    tallies > 0 && `${number(tallies, 4)} ${tallies === 1 ? 'tally that' : 'tallies that'} somebody decided without${on}`,
  ].filter(Boolean);
  const differ = disagreements > 0 && `Agents disagreed on the active arms ${number(disagreements, 4)} ${disagreements === 1 ? 'time' : 'times'}${on}.`;
  const sinks = p.network.new_sinks > 0 && `Other sinks, or other ways to them, were found ${count(p.network.new_sinks, 'time')}.`;
  return [said.length && `Lost: ${said.join('; ')}.`, sinks, differ, ...(Array.isArray(p.notes) ? p.notes : [])].filter(Boolean).join(' ');
}

/// Who talked to whom, how often, and at what cost.
export function network(data) {
  const nets = new Map(data.points.map((p) => [p, tidy(p.network)]).filter(([, net]) => net));
  if (!nets.size) return null;
  const drawn = [...nets.keys()];
  const rows = data.points.filter((p) => nets.has(p) || own.some((m) => mean(p, m) !== null));
  const there = costs.filter((m) => rows.some((p) => mean(p, m) !== null));
  let [chosen, width, picture, near] = [drawn[0], 0, null, null];

  const view = h('div');
  const tip = h('div', { class: 'tip', hidden: true, 'aria-live': 'polite' });
  const host = h('div', { class: 'canvas graph', tabindex: 0, role: 'img', 'data-chart': 'network' }, view, tip);
  const side = h('div', { class: 'legend' });
  const net = () => nets.get(chosen);
  const figure = () => ({
    title: `Network of ${drawn.length > 1 ? chosen.name : data.summary.name || chosen.name}`, draw: (wide, colours) => draw(net(), wide, colours),
  });

  function show() {
    if (!width) return;
    picture = draw(net(), width, theme());
    near = null;
    tip.hidden = true;
    replace(view, markup(picture.list, width, picture.height, theme()));
    const { nodes, edges, sinks } = net();
    host.setAttribute('aria-label', `${figure().title}: ${count(nodes, 'agent')}${net().server ? ', a server' : ''}, ${count(edges.length, 'link')}${sinks.size ? `, ${count(sinks.size, 'sink')}` : ''}. `
      + 'Left and right arrow keys go through the agents, up and down through the links of one.');
  }

  /// Lights up a node (with its links) or a link, and shows its numbers; null lets go.
  function light(what) {
    if (near && what && near.i === what.i && near.link === what.link) return;
    near = what;
    const svg = view.firstChild;
    const old = svg.querySelector('.lit');
    if (old) old.remove();
    svg.classList.toggle('dim', Boolean(what));
    tip.hidden = !what;
    if (!what) return;
    const { spots } = picture;
    const mine = what.link ? [what.link] : picture.links.filter(({ e }) => e.a === what.i || e.b === what.i);
    const ends = what.link ? [what.link.e.a, what.link.e.b] : [what.i];
    const ring = (s) => ({ d: `M${s.x - s.r - 3} ${s.y}a${s.r + 3} ${s.r + 3} 0 1 0 ${2 * s.r + 6} 0a${s.r + 3} ${s.r + 3} 0 1 0 ${-2 * s.r - 6} 0Z`, stroke: theme().hues[1], width: 2.2 });
    const over = markup([...mine.map((l) => ({ d: line(l), stroke: theme().hues[1], width: 1.6 })), ...spots.filter((s) => ends.includes(s.i)).map(ring)], width, picture.height, theme());
    const group = over.querySelector('g');
    group.setAttribute('class', 'lit');
    svg.append(group);
    const sum = mine.reduce((total, { e }) => total + (e.messages || 0), 0);
    replace(tip, h('div', { class: 'tip-head' }, what.link ? linkName(what.link.e) : nodeName(net(), what.i)),
      h('div', {}, what.link ? linkSays(what.link.e) : `${count(mine.length, 'link')}, ${number(sum, 4)} ${sum === 1 ? 'message' : 'messages'}`));
    const [w, t] = [tip.offsetWidth, tip.offsetHeight];
    const x = what.x + w + 22 > width ? what.x - w - 16 : what.x + 16;
    tip.style.transform = `translate(${Math.round(Math.max(0, x))}px,${Math.round(Math.max(0, Math.min(picture.height - t, what.y - t / 2)))}px)`;
  }

  const onNode = (s) => ({ i: s.i, x: s.x, y: s.y });
  const onLink = (i, link) => ({ i, link, x: (link.from[0] + link.to[0]) / 2, y: (link.from[1] + link.to[1]) / 2 });

  host.addEventListener('pointermove', (event) => {
    if (!picture) return;
    const box = view.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [null, 36];
    for (const s of picture.spots) {
      const away = Math.hypot(s.x - x, s.y - y) - s.r;
      if (away < Math.min(5, least)) { least = away; best = onNode(s); }
    }
    if (!best) {
      for (const link of picture.links) {
        const [[ax, ay], [bx, by]] = [link.from, link.to];
        const [dx, dy] = [bx - ax, by - ay];
        const k = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
        const away = (ax + k * dx - x) ** 2 + (ay + k * dy - y) ** 2;
        if (away < least) { least = away; best = { link, x, y }; }
      }
    }
    light(best);
  });
  host.addEventListener('pointerleave', () => { if (picture) light(null); });
  host.addEventListener('blur', () => { if (picture) light(null); });
  host.addEventListener('keydown', (event) => {
    const [step, along] = [{ ArrowLeft: -1, ArrowRight: 1 }[event.key], { ArrowUp: -1, ArrowDown: 1 }[event.key]];
    if (!picture || (!step && !along && event.key !== 'Escape')) return;
    event.preventDefault();
    if (event.key === 'Escape') { light(null); return; }
    const { spots, links } = picture;
    const now = near && near.i !== undefined ? spots.findIndex((s) => s.i === near.i) : -1;
    if (step) { light(onNode(spots[now < 0 && step < 0 ? spots.length - 1 : (now + step + spots.length) % spots.length])); return; }
    const i = spots[Math.max(0, now)].i;
    const mine = links.filter(({ e }) => e.a === i || e.b === i).sort((a, b) => a.e.a + a.e.b - b.e.a - b.e.b);
    if (!mine.length) { light(onNode(spots[Math.max(0, now)])); return; }
    const at = near && near.link ? mine.indexOf(near.link) + along : along > 0 ? 0 : mine.length - 1;
    light(onLink(i, mine[(at + mine.length) % mine.length]));
  });

  const wide = h('tbody');
  function update() {
    const said = losses(chosen, net());
    const here = there.filter((m) => mean(chosen, m) !== null);
    replace(side, here.length > 0 && h('table', { class: 'data' }, h('tbody', {}, here.map((m) => h('tr', {}, h('th', { scope: 'row' }, metricName(m)), h('td', { class: 'num' }, number(mean(chosen, m), 4)))))),
      said && h('p', { class: 'losses' }, h('strong', { class: 'warn' }, said)));
    replace(wide, rows.map((p) => h('tr', { 'data-point': p.id, class: p === chosen ? 'chosen' : null }, h('th', { scope: 'row' }, p.name), there.map((m) => h('td', { class: 'num' }, cost(p, m))))));
    show();
  }
  new ResizeObserver(() => {
    const now = Math.floor(host.clientWidth);
    if (now && now !== width) { width = now; show(); }
  }).observe(host);
  onTheme(show);

  const choose = (id) => { chosen = drawn.find((p) => String(p.id) === id); update(); };
  const options = drawn.map((p) => [String(p.id), p.name]);
  const short = options.length <= 5 && options.reduce((sum, [, text]) => sum + text.length, 0) < 90;
  const { downloads, paper } = outputs('network', data.summary.name, figure);
  update();
  return h('section', { id: 'network' }, h('h2', {}, 'The network'),
    h('div', { class: 'controls' }, drawn.length > 1 && (short ? choice : select)('Point', options, options[0][0], choose), downloads),
    h('div', { class: 'with-legend' }, h('div', { class: 'plot' }, host, paper), side),
    h('p', { class: 'caption' }, `Messages of the first replicate, both ways together; costs are means over the replicates.${drawn.length < rows.length ? ' Networks of more than 500 agents are not drawn.' : ''}`),
    rows.length > 1 && there.length > 0 && scroller('', h('table', { class: 'data costs' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Point'), there.map((m) => h('th', { scope: 'col', class: 'num' }, metricName(m))))), wide)));
}
