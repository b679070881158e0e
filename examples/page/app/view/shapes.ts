/** The outlines of the small pictures, each around its own middle. */
export const SHAPES = {
  car: 'M-11 4v-4c0-1.5 1-2.4 2.5-2.7L-7-7.5C-6.5-9-5.5-9.8-4-9.8h8c1.5 0 2.5.8 3 2.3l1.5 4.8C10-2.4 11-1.5 11 0v4c0 1.2-.8 2-2 2h-18c-1.2 0-2-.8-2-2z',
  shoulders: 'M-9 8v-5c0-4 3.5-6 9-6s9 2 9 6v5c0 1-.7 1.6-1.6 1.6h-14.8C-8.3 9.6-9 9-9 8z',
  tape: 'M-7-2.5h14M0-7v4.5',
  closed: 'M-3.5-1v-3a3.5 3.5 0 0 1 7 0v3',
  open: 'M-3.5-1v-4.5a3.5 3.5 0 0 1 7 0',
  tick: 'M-2.5 0l2 2 3.2-4',
  cross: 'M-2-2l4 4M2-2l-4 4',
} as const;
