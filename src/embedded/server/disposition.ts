/** Fate of the connection after a message. */
export type Disposition = { reply: Buffer } | { drop: true } | { hang: true } | { streamed: true }
