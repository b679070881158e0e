import { expect, test } from 'vitest';
import { visible } from '../../src/core/contract/visible.ts';

test.each([
  ['order:42', 'order:42'],
  ['\u001b[2J', '\\u001b[2J'],
  ['a\nb\u0000', 'a\\u000ab\\u0000'],
  ['\u007f\u009f', '\\u007f\\u009f'],
  ['\u202egnp.exe', '\\u202egnp.exe'],
  ['الطلب \u061c\u200e\u200f\u2028\u2069', 'الطلب \\u061c\\u200e\\u200f\\u2028\\u2069'],
])('what would steer a terminal is shown, not obeyed: %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});
