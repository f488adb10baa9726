// Okabe and Ito's hues, which readers with any colour vision can tell apart; darkened or lightened for the ground.
// `fade` is how far a group's last step goes towards the paper: on the dark one all steps keep a contrast of 3:1.
const themes = {
  light: { dark: false, paper: '#ffffff', ink: '#1c1f23', muted: '#626a73', grid: '#eceef0', axis: '#c3c8cd', node: '#e3eaf1',
    fade: 0.55, hues: ['#0072b2', '#d55e00', '#009e73', '#b8578c', '#c98a00', '#3a9bd6', '#7a5c3e', '#6f5bb5'], neutral: '#3b4046' },
  dark: { dark: true, paper: '#16191d', ink: '#e8eaed', muted: '#9aa3ad', grid: '#262b31', axis: '#454c55', node: '#39424c',
    fade: 0.38, hues: ['#4aa8e8', '#f5823c', '#2fc49a', '#e08ab8', '#e9b23a', '#8fd0f7', '#c29b76', '#a795ee'], neutral: '#c9ced4' },
};
const viridis = { light: ['#440154', '#3b528b', '#21918c', '#46b368', '#a8b820'], dark: ['#7d5fc4', '#5a86d6', '#2fb5ad', '#73d067', '#f0e04a'] };
export const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
export const markers = ['circle', 'square', 'triangle', 'diamond', 'down', 'cross'];

const query = window.matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const listeners = new Set();
const printers = new Set();

export const light = themes.light;
export const theme = () => (query.matches && !printing ? themes.dark : themes.light);
export const onTheme = (listener) => listeners.add(listener);
export const onPrint = (listener) => printers.add(listener);
const tell = () => listeners.forEach((listener) => listener());
query.addEventListener('change', tell);
function print(on) {
  printing = on;
  document.documentElement.classList.toggle('printing', on);
  tell();
  printers.forEach((listener) => listener(on));
}
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(false));

function mix(a, b, share) {
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const one = (i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share).toString(16).padStart(2, '0');
  return `#${one(0)}${one(1)}${one(2)}`;
}

/// The colour of a group, faded by `fade` in 0..1 towards the paper (the steps within a group).
export function colour({ hue, fade = 0, ramp = null }) {
  return (t) => {
    if (ramp !== null) {
      const stops = viridis[t.dark ? 'dark' : 'light'];
      const at = ramp * (stops.length - 1);
      const low = Math.min(Math.floor(at), stops.length - 2);
      return mix(stops[low], stops[low + 1], at - low);
    }
    const base = hue < 0 ? t.neutral : t.hues[hue % t.hues.length];
    return mix(base, t.paper, fade * t.fade);
  };
}
