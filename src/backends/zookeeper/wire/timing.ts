/** Everything as a share of the session timeout that the server granted. */

/** How often a connection without recent writes says that it is alive. */
export const BEAT = 1 / 12;
/** After this without an answer a server is given up. */
export const PATIENCE = 1 / 3;
/**
 * A follower reports its clients' signs of life at least this often. The leader asks for them twice a tick, and a session lasts two
 * ticks at least unless `minSessionTimeout` says otherwise: a quarter, and a twelfth for a leader that is late.
 */
export const REPORT = 1 / 3;
/** With less than this left at an answer, the session is resumed for its leader to hear of it: the next report may come too late. */
export const SCARCE = 1 / 3;
/** From when the leader has last heard of a session: a hundredth less than it lasts, for clocks that run at different rates. */
export const SURE = 0.99;
