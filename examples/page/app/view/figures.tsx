import { SHAPES } from './shapes.ts';

export const Car = () => (
  <g class="figure">
    <path d={SHAPES.car} />
    <circle class="wheel" cx="-6" cy="6" r="2.7" />
    <circle class="wheel" cx="6" cy="6" r="2.7" />
  </g>
);

export const Buyer = () => (
  <g class="figure">
    <circle cx="0" cy="-7" r="4" />
    <path d={SHAPES.shoulders} />
  </g>
);

/** What is sold. */
export const Parcel = () => (
  <g class="parcel">
    <rect x="-7" y="-7" width="14" height="14" rx="2.5" />
    <path d={SHAPES.tape} />
  </g>
);

/** @param held somebody has it */
export const Padlock = ({ held }: { readonly held: boolean }) => (
  <g class={held ? 'padlock held' : 'padlock'}>
    <path d={held ? SHAPES.closed : SHAPES.open} />
    <rect x="-5.5" y="-1" width="11" height="8" rx="2" />
  </g>
);

/** Says without colour what became of somebody. */
export const Badge = ({ good }: { readonly good: boolean }) => (
  <g class={good ? 'badge good' : 'badge bad'} transform="translate(9 -9)">
    <circle r="5.5" />
    <path d={good ? SHAPES.tick : SHAPES.cross} />
  </g>
);
