/** First release with path expressions. */
export const PATHS_SINCE = [8, 1, 2]

/** True when a server of this build, such as 8.1.2.0, has what came with the given release. */
export function isAtLeast(build: string, release: readonly number[]): boolean {
  const parts = build.split(/[.-]/).map((part) => Number.parseInt(part))
  for (const [i, wanted] of release.entries()) {
    const have = Number.isNaN(parts[i]) ? 0 : (parts[i] ?? 0)
    if (have !== wanted) return have > wanted
  }
  return true
}
