/** 'listings.reviews' → listings: ['reviews'] */
export function byFirstStep(paths: readonly string[]): Map<string, string[]> {
  const branches = new Map<string, string[]>()
  for (const path of paths) {
    const [first, ...rest] = path.split('.')
    const branch = branches.get(first) ?? []
    branches.set(first, rest.length === 0 ? branch : [...branch, rest.join('.')])
  }
  return branches
}
