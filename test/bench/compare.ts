import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { BenchResult } from './bench.js'

/** A side of a comparison; `prepare` runs before each of its turns, outside the measurement. */
export interface Side {
  readonly call: (i: number) => Promise<unknown>
  readonly prepare?: () => Promise<unknown>
}

export interface CompareOptions {
  /** Number of callers at once, each of whom waits for its answer before it asks again. */
  readonly callers?: number
  /** Calls of one turn: few, so that a turn is short. */
  readonly calls: number
  readonly rounds?: number
}

export interface Compared {
  /** Our throughput against theirs. */
  readonly ratio: number
  /** Microseconds of the main thread for a call, without the server and the waiting; undefined where the system does not tell. */
  readonly cpu: { readonly ours: number; readonly theirs: number } | undefined
}

interface Turn {
  readonly ms: number
  readonly cpu: number
}

const ROUNDS = 100
/** Many callers are never given less than this against calls of their own. */
const CROWD_AT_LEAST = 1.5

/** Kinds of callers: one, one who asks for a hundred records at a time, and many at once. */
export const ONE: CompareOptions = { callers: 1, calls: 100 }
export const HUNDREDS: CompareOptions = { callers: 1, calls: 5 }
export const CROWD: CompareOptions = { callers: 64, calls: 640 }

/** The comparison as a line of the report. */
export async function against(
  name: string,
  ours: Side,
  theirs: Side,
  options: CompareOptions,
  atLeast: number,
  call: string,
): Promise<BenchResult> {
  const { ratio, cpu } = await compare(ours, theirs, options)
  const time = cpu && `; main thread ${cpu.ours.toFixed(1)} µs a call against ${cpu.theirs.toFixed(1)}`
  return { name, ratio, budget: { atLeast }, of: `throughput against ${call}${time ?? ''}` }
}

/**
 * Compares many callers with as many calls, and with batches that are gathered by hand, which give them the most that the client has on
 * this machine: `share` of it is wanted.
 */
export async function againstCrowd(
  name: string,
  { ours, theirs, gathered }: { readonly ours: Side; readonly theirs: Side; readonly gathered: Side },
  share: number,
  call: string,
): Promise<BenchResult[]> {
  return [
    await against(name, ours, theirs, CROWD, CROWD_AT_LEAST, call),
    await against(`${name}, share`, ours, gathered, CROWD, share, 'batches gathered by hand'),
  ]
}

/**
 * Lets both sides take turns in many short rounds: ours, theirs, theirs, ours, so that what changes slowly, such as other work on the machine,
 * weighs on both alike. Each round gives one ratio; the median of them does not move when single rounds are disturbed.
 */
export async function compare(ours: Side, theirs: Side, options: CompareOptions): Promise<Compared> {
  const { rounds = ROUNDS, calls } = options
  const turn = (side: Side): Promise<Turn> => takeTurn(side, options)
  // Warms up until the compiler has done what it can.
  for (let i = 0; i < rounds / 2; i++) for (const side of [ours, theirs]) await turn(side)
  collectGarbage()
  const ratios: number[] = []
  const cpu = { ours: [] as number[], theirs: [] as number[] }
  for (let i = 0; i < rounds; i++) {
    const turns = [await turn(ours), await turn(theirs), await turn(theirs), await turn(ours)]
    ratios.push((turns[1].ms + turns[2].ms) / (turns[0].ms + turns[3].ms))
    cpu.ours.push((turns[0].cpu + turns[3].cpu) / 2 / calls)
    cpu.theirs.push((turns[1].cpu + turns[2].cpu) / 2 / calls)
  }
  return {
    ratio: median(ratios),
    cpu: mainThreadTime === undefined ? undefined : { ours: median(cpu.ours), theirs: median(cpu.theirs) },
  }
}

async function takeTurn({ call, prepare }: Side, { callers = 1, calls }: CompareOptions): Promise<Turn> {
  await prepare?.()
  const cpu = mainThreadTime?.() ?? 0
  const began = performance.now()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < calls) await call(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const ms = performance.now() - began
  return { ms, cpu: (mainThreadTime?.() ?? 0) - cpu }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Microseconds that the main thread has run; Linux tells. */
const mainThreadTime = ((): (() => number) | undefined => {
  const file = `/proc/self/task/${process.pid}/schedstat`
  const read = (): number => Number(readFileSync(file, 'latin1').split(' ')[0]) / 1000
  try {
    read()
    return read
  } catch {
    return undefined
  }
})()

setFlagsFromString('--expose-gc')
/** Collects the garbage of earlier work, so that the next measurement does not pay for it. */
export const collectGarbage = runInNewContext('gc') as () => void
