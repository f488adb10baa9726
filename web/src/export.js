// A figure as a file: the same shapes as on the screen, on white, with title and legend, at a fixed size.
import { fontFamily, fontSize, frame, layout, legend, paint, shapes } from './figure.js';
import { light } from './palette.js';

function sheet(figure) {
  const [width, height] = figure.size || [820, 470];
  const head = 34;
  const lay = layout(figure, width, height);
  const key = legend(figure, width, height, light);
  const title = { text: figure.title, x: 2, y: -10, anchor: 'start', fill: light.ink, size: 15, bold: true };
  return { width, height: head + height + key.height, head, box: lay.box,
    list: [...frame(figure, lay, light), ...shapes(figure, lay, light), ...key.shapes, title] };
}

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');

function element(s, name) {
  const alpha = s.alpha !== undefined && s.alpha !== 1 ? ` opacity="${Math.round(s.alpha * 1000) / 1000}"` : '';
  if (s.text !== undefined) {
    const halo = s.halo ? ` stroke="${light.paper}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : '';
    return `<text x="${s.x.toFixed(1)}" y="${s.y.toFixed(1)}" text-anchor="${s.anchor}" fill="${s.fill}"${s.size ? ` font-size="${s.size}"` : ''}`
      + `${s.bold ? ' font-weight="600"' : ''}${s.italic ? ' font-style="italic"' : ''}${halo}${alpha}>${escape(s.text)}</text>`;
  }
  const dash = s.dash && s.dash.length ? ` stroke-dasharray="${s.dash.join(' ')}"` : '';
  const stroke = s.stroke ? ` stroke="${s.stroke}" stroke-width="${s.width}" stroke-linejoin="round"${dash}` : '';
  return `<path d="${s.d}" fill="${s.fill || 'none'}"${stroke}${alpha}${s.clip ? ` clip-path="url(#${name})"` : ''}/>`;
}

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
