/** A pattern that a server would not compile; the message says why. */
export class MalformedRegex extends Error {}

export const malformedRegex = (message: string): MalformedRegex => new MalformedRegex(message)
