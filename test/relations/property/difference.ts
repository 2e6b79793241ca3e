/** Differences: members that should not be there, and missing ones. */
export function difference(found: readonly string[], wanted: readonly string[]): string[] {
  const [isFound, isWanted] = [new Set(found), new Set(wanted)]
  return [
    ...found.filter((each) => !isWanted.has(each)).map((each) => `unexpected: ${each}`),
    ...wanted.filter((each) => !isFound.has(each)).map((each) => `missing: ${each}`),
  ]
}
