import { read } from './data.js';
import { h } from './dom.js';
import { bounds } from './sections/bounds.js';
import { communication } from './sections/communication.js';
import { curves } from './sections/curves.js';
import { epsilon } from './sections/epsilon.js';
import { network } from './sections/network.js';
import { phases } from './sections/phases.js';
import { privacy } from './sections/privacy.js';
import { tables } from './sections/tables.js';
import { again, facts, header, spec } from './sections/text.js';
import { verdicts } from './sections/verdicts.js';

const app = document.getElementById('app');
try {
  const data = read(JSON.parse(document.getElementById('bandana-data').textContent));
  const sections = [verdicts, facts, curves, epsilon, bounds, communication, network, phases, privacy, tables, spec, again].map((section) => section(data)).filter(Boolean);
  const links = sections.map((s) => [s.id, s.querySelector('h2').textContent]);
  app.append(header(data, links), h('main', {}, sections));
} catch (error) {
  app.append(h('p', { class: 'void', role: 'alert' }, `This report could not be drawn: ${error.message}`));
  throw error;
}
