/** A line of `npm run bench`: the measured figure, and whether it is within its budget (or only shown, where it has none). */
export interface BenchResult {
  readonly name: string
  readonly ratio: number
  readonly budget?: { readonly atMost: number } | { readonly atLeast: number }
  /** The two sides of the ratio, in a few words. */
  readonly of: string
}

/** The default export of each file of this folder; files are found by being here. */
export interface BenchSuite {
  readonly name: string
  run(): Promise<readonly BenchResult[]> | readonly BenchResult[]
}

export function isWithinBudget({ ratio, budget }: BenchResult): boolean {
  if (budget === undefined) return true
  return 'atMost' in budget ? ratio <= budget.atMost : ratio >= budget.atLeast
}

/** Sink for what measured functions return, so that the compiler cannot leave the work out. */
let sink: unknown

/**
 * Nanoseconds per call of each function. The functions take turns in short rounds and the best round of each counts, so that a busy
 * machine disturbs all of them alike, or none.
 */
export function measure<Name extends string>(
  functions: { readonly [N in Name]: (i: number) => unknown },
  { rounds = 40, roundMs = 5 }: { rounds?: number; roundMs?: number } = {},
): { readonly [N in Name]: number } {
  const names = Object.keys(functions) as Name[]
  const best = Object.fromEntries(names.map((name) => [name, Infinity])) as { [N in Name]: number }
  const calls = Object.fromEntries(names.map((name) => [name, 1])) as { [N in Name]: number }
  for (const name of names) {
    while (time(functions[name], calls[name]) < roundMs * 1e6) calls[name] *= 2
  }
  for (let round = 0; round < rounds; round++) {
    for (const name of names) best[name] = Math.min(best[name], time(functions[name], calls[name]) / calls[name])
  }
  return best
}

function time(run: (i: number) => unknown, calls: number): number {
  const start = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) sink = run(i)
  return Number(process.hrtime.bigint() - start)
}

export const lastResult = (): unknown => sink
