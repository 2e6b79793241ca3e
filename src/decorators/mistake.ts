/**
 * Makes the compiler print a sentence: a parameter of type `"name" & Mistake<"…">` accepts nothing,
 * and its error message shows the text.
 */
export interface Mistake<Sentence extends string> {
  readonly mistake: Sentence
}

/** The type of a property without null and undefined; `unknown` for private ones, which cannot be looked at. */
export type Declared<P, K extends string> = K extends keyof P ? NonNullable<P[K]> : never

/** `unknown` (nothing to complain about) when the declared type fits, otherwise the sentence. Private properties are not checked. */
export type Expect<Actual, Wanted, Sentence extends string> = [Actual] extends [Wanted] ? unknown : Mistake<Sentence>
