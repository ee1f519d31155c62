/**
 * The worker: reads, replays and simulates away from the page's thread.
 *
 * @module
 */
export {};
