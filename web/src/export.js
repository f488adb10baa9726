// A figure as a file: the same shapes as on the screen, on white, with title and legend, at a fixed size.
import { h, replace, save } from './dom.js';
import { fontFamily, fontSize, frame, layout, legend, paint, shapes } from './figure.js';
import { slug } from './format.js';
import { light, onPrint } from './palette.js';

function sheet(figure) {
  const [width, height] = figure.size || [820, 470];
  const head = 34;
  const title = { text: figure.title, x: 2, y: -10, anchor: 'start', fill: light.ink, size: 15, bold: true };
  if (figure.draw) {
    const drawn = figure.draw(width, light);
    return { width, height: head + drawn.height, head, box: { left: 0, top: 0, width, height: drawn.height }, list: [...drawn.list, title] };
  }
  const lay = layout(figure, width, height);
  const key = legend(figure, width, height, light);
  return { width, height: head + height + key.height, head, box: lay.box,
    list: [...frame(figure, lay, light), ...shapes(figure, lay, light), ...key.shapes, title] };
}

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');

function element(s, name, theme = light) {
  const alpha = s.alpha !== undefined && s.alpha !== 1 ? ` opacity="${Math.round(s.alpha * 1000) / 1000}"` : '';
  if (s.text !== undefined) {
    const halo = s.halo ? ` stroke="${theme.paper}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : '';
    return `<text${s.kind ? ` class="${s.kind}"` : ''} x="${s.x.toFixed(1)}" y="${s.y.toFixed(1)}" text-anchor="${s.anchor}" fill="${s.fill}"${s.size ? ` font-size="${s.size}"` : ''}`
      + `${s.bold ? ' font-weight="600"' : ''}${s.italic ? ' font-style="italic"' : ''}${halo}${alpha}>${escape(s.text)}</text>`;
  }
  const dash = s.dash && s.dash.length ? ` stroke-dasharray="${s.dash.join(' ')}"` : '';
  const stroke = s.stroke ? ` stroke="${s.stroke}" stroke-width="${s.width}" stroke-linejoin="round"${dash}` : '';
  const end = s.title ? `><title>${escape(s.title)}</title></path>` : '/>';
  return `<path d="${s.d}"${s.kind ? ` class="${s.kind}"` : ''} fill="${s.fill || 'none'}"${stroke}${alpha}${s.clip ? ` clip-path="url(#${name})"` : ''}${end}`;
}

const parsed = (text) => document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);

/// Shapes as an element of the page, without the titles: there the readout says them.
export const markup = (list, width, height, theme) => parsed(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escape(fontFamily)}" font-size="${fontSize}" aria-hidden="true">`
  + `<g>${list.map(({ title, ...s }) => element(s, '', theme)).join('')}</g></svg>`);

export function svg(figure, name = 'plot') {
  const { width, height, head, box, list } = sheet(figure);
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 ${-head} ${width} ${height}" font-family="${escape(fontFamily)}" font-size="${fontSize}">
<title>${escape(figure.title)}</title>
<defs><clipPath id="${name}"><rect x="${box.left}" y="${box.top - 4}" width="${box.width}" height="${box.height + 4}"/></clipPath></defs>
<rect y="${-head}" width="${width}" height="${height}" fill="${light.paper}"/>
${list.map((s) => element(s, name)).join('\n')}
</svg>
`;
}

export function png(figure, done, ratio = 2) {
  const { width, height, head, box, list } = sheet(figure);
  const canvas = document.createElement('canvas');
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  context.fillStyle = light.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  context.translate(0, head);
  paint(context, list, box, light);
  canvas.toBlob(done, 'image/png');
}

/// The buttons that save a figure, and its place on paper, where it is the SVG at the page's width.
export function outputs(id, file, figure) {
  const name = `${slug(file || 'bandana')}-${id}`;
  const paper = h('div', { class: 'paper' });
  onPrint((on) => replace(paper, on && parsed(svg(figure(), `plot-${id}`))));
  const button = (kind, onclick) => h('button', { type: 'button', class: 'quiet', 'data-save': kind, 'aria-label': `Download ${figure().title} as ${kind.toUpperCase()}`, onclick }, kind.toUpperCase());
  return { paper, downloads: h('span', { class: 'downloads' },
    button('svg', () => save(new Blob([svg(figure())], { type: 'image/svg+xml' }), `${name}.svg`)),
    button('png', () => png(figure(), (blob) => save(blob, `${name}.png`)))) };
}
