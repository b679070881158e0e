// The theme without its web font: the reader's own fonts are quicker, and know Chinese.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
