/** `Did you mean 'agent'?` followed by a space, when one of the names is close enough to be what was meant; otherwise nothing. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  // A name is never so long: it is not worth the time.
  if (wrong.length > 100) return ''
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(wrong.length / 3)) + 1
  for (const name of names) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  return best === undefined ? '' : `Did you mean '${best}'? `
}

/** Number of letters that must be added, dropped or changed to get from one word to the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[to.length]
}

/** `'a', 'b' or 'c'` */
export function oneOf(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`
}
