/** One process of `holdfast torture`. */
import { openBackend } from '../../connect/open.ts';
import { work } from './work.ts';

work(openBackend);
