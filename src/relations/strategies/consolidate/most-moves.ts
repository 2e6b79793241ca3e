/** Entries that the moves of one write may pass over: each move copies the whole map on the server. */
const MOVE_WORK = 100_000
const LEAST_MOVES = 8

/** Children that may change their places in one write to a map of so many. */
export const mostMovesIn = (children: number): number => Math.max(LEAST_MOVES, Math.floor(MOVE_WORK / children))
