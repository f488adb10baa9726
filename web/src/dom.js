// h('a', {href: '#x', class: 'y'}, child, ...) makes an element; text is always text, never markup.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') element.style.cssText = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function replace(element, ...children) {
  element.textContent = '';
  append(element, children);
}

/// A row of exclusive choices: options are [value, text] pairs.
export function choice(name, options, value, onchange) {
  const buttons = options.map(([key, text]) => h('button', {
    type: 'button', 'data-value': key, 'aria-pressed': String(key === value),
    onclick: () => {
      for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset.value === key));
      onchange(key);
    },
  }, text));
  return h('span', { class: 'choice', role: 'group', 'aria-label': name }, h('span', { class: 'choice-name' }, name), buttons);
}

export function toggle(text, value, onchange, attributes = {}) {
  const box = h('input', { type: 'checkbox', onchange: () => onchange(box.checked), ...attributes });
  box.checked = value;
  return h('label', { class: 'toggle' }, box, h('span', {}, text));
}

export function select(name, options, value, onchange) {
  const list = h('select', { 'aria-label': name, onchange: () => onchange(list.value) },
    options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
  return h('label', { class: 'choice' }, h('span', { class: 'choice-name' }, name), list);
}

/// A table that may be wider than the page: shadows say at which side there is more.
export function scroller(kind, table) {
  const pane = h('div', { class: 'scroll' }, table);
  const frame = h('div', { class: `scroller ${kind}` }, pane);
  const look = () => {
    const rest = pane.scrollWidth - pane.clientWidth;
    frame.classList.toggle('more-left', pane.scrollLeft > 1);
    frame.classList.toggle('more-right', pane.scrollLeft < rest - 1);
    if (rest > 1) pane.tabIndex = 0;
    else pane.removeAttribute('tabindex');
  };
  pane.addEventListener('scroll', look, { passive: true });
  const watch = new ResizeObserver(look);
  watch.observe(pane);
  watch.observe(table);
  return frame;
}

export function save(blob, filename) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: filename });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
