import uPlot from '/uplot.js';

const $ = (id) => document.getElementById(id);
const form = document.querySelector('form');
const { choice, things, people } = form.elements;
const button = form.querySelector('button');

const groups = new Map();
for (const { id, scenario, name } of await (await fetch('/choices')).json()) {
  const group = groups.get(scenario) ?? document.createElement('optgroup');
  group.label = scenario;
  group.append(new Option(name, id));
  groups.set(scenario, group);
}
choice.append(...groups.values());

const isSale = () => choice.value.startsWith('sale');
choice.addEventListener('change', () => {
  $('things').textContent = isSale() ? 'Units' : 'Orders';
  $('people').textContent = isSale() ? 'Buyers' : 'Drivers';
  [things.value, people.value] = isSale() ? [300, 600] : [20, 20];
});

const ink = getComputedStyle(document.body).color;
const axis = { stroke: ink, grid: { stroke: 'rgb(128 128 128 / 25%)' } };
const width = () => $('chart').clientWidth;
const chart = new uPlot(
  {
    width: width(),
    height: 160,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, Math.max(10, max)] } },
    axes: [{ ...axis, values: (_plot, ticks) => ticks.map((tick) => `${tick} s`) }, axis],
    series: [{}, { stroke: '#2b8a9e', width: 2, fill: 'rgb(43 138 158 / 20%)' }],
  },
  [[], []],
  $('chart'),
);
addEventListener('resize', () => chart.setSize({ width: width(), height: 160 }));

let began = 0;
let last = { at: 0, answered: 0 };
let most = 1;
let data = [[], []];

function begin() {
  began = performance.now();
  last = { at: 0, answered: 0 };
  most = 1;
  data = [[0], [0]];
  $('verdict').className = '';
  $('verdict').textContent = 'Starting what it needs…';
  button.disabled = true;
}

function show({ done, wrong, waiting, answered, handOvers, bars }) {
  const at = (performance.now() - began) / 1000;
  const rate = Math.max(0, Math.round((answered - last.answered) / Math.max(0.05, at - last.at)));
  last = { at, answered };
  data = [
    [...data[0], at],
    [...data[1], rate],
  ];
  chart.setData(data);
  $('done').textContent = done;
  $('wrong').textContent = wrong;
  $('wrong-box').className = wrong > 0 ? 'some' : '';
  $('waiting').textContent = waiting;
  $('hand-overs').textContent = handOvers || 'none';
  $('rate').textContent = rate;
  $('verdict').className = wrong > 0 ? 'wrong' : '';
  $('verdict').textContent = wrong > 0 ? `Going wrong: ${wrong} so far.` : `${done} winners so far, none wrong.`;
  $('stock').hidden = bars.length === 0;
  most = Math.max(most, ...bars);
  $('bars').replaceChildren(
    ...bars.map((units) => {
      const bar = document.createElement('i');
      bar.style.height = `${(100 * units) / most}%`;
      return bar;
    }),
  );
  $('bars').ariaLabel = `Units left: ${bars[0]} in the reserve, ${bars.slice(1).join(', ')} in the segments`;
}

function end({ right, words }) {
  $('verdict').className = right ? 'right' : 'wrong';
  $('verdict').textContent = `${right ? 'Right' : 'Wrong'}: ${words}.`;
  button.disabled = false;
}

const events = new EventSource('/events');
events.addEventListener('moment', ({ data: text }) => show(JSON.parse(text)));
events.addEventListener('end', ({ data: text }) => end(JSON.parse(text)));

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  begin();
  const wish = { choice: choice.value, things: Number(things.value), people: Number(people.value) };
  const { status } = await fetch('/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(wish),
  }).catch(() => ({ status: 0 }));
  if (status !== 202)
    end({ right: false, words: status === 409 ? 'another run is under way' : 'it could not be started' });
});
