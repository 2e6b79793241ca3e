const LONGEST = 100

/** A text that somebody gave, as a message may repeat it: the beginning of a long one, and how long it is. */
export function cut(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`
}
