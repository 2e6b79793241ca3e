/** 'listings.reviews' → listings: ['reviews'] */
export function byFirstStep(paths: readonly string[]): Map<string, string[]> {
  const branches = new Map<string, string[]>()
  for (const path of paths) {
    const end = path.indexOf('.')
    const first = end < 0 ? path : path.slice(0, end)
    const branch = branches.get(first) ?? []
    if (end >= 0) branch.push(path.slice(end + 1))
    branches.set(first, branch)
  }
  return branches
}
