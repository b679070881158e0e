/** The small pictures, each around its own middle, about 24 wide. */

export const Car = () => (
  <g class="figure">
    <path d="M-11 4v-4c0-1.5 1-2.400 2.500-2.700L-7-7.500C-6.500-9-5.500-9.800-4-9.800h8c1.500 0 2.500.8 3 2.300l1.500 4.800C10-2.400 11-1.500 11 0v4c0 1.200-.8 2-2 2h-18c-1.200 0-2-.8-2-2z" />
    <circle class="wheel" cx="-6" cy="6" r="2.700" />
    <circle class="wheel" cx="6" cy="6" r="2.700" />
  </g>
);

export const Buyer = () => (
  <g class="figure">
    <circle cx="0" cy="-7" r="4" />
    <path d="M-9 8v-5c0-4 3.500-6 9-6s9 2 9 6v5c0 1-.7 1.600-1.600 1.600h-14.800C-8.300 9.600-9 9-9 8z" />
  </g>
);

/** What is sold. */
export const Parcel = () => (
  <g class="parcel">
    <rect x="-7" y="-7" width="14" height="14" rx="2.500" />
    <path d="M-7-2.500h14M0-7v4.500" />
  </g>
);

/** @param held somebody has it */
export const Padlock = ({ held }: { readonly held: boolean }) => (
  <g class={held ? 'padlock held' : 'padlock'}>
    <path d={held ? 'M-3.500-1v-3a3.500 3.500 0 0 1 7 0v3' : 'M-3.500-1v-4.500a3.500 3.500 0 0 1 7 0'} />
    <rect x="-5.500" y="-1" width="11" height="8" rx="2" />
  </g>
);

/** Says without colour what became of somebody. */
export const Badge = ({ good }: { readonly good: boolean }) => (
  <g class={good ? 'badge good' : 'badge bad'} transform="translate(9 -9)">
    <circle r="5.500" />
    <path d={good ? 'M-2.500 0l2 2 3.200-4' : 'M-2-2l4 4M2-2l-4 4'} />
  </g>
);
