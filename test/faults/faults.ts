import type { FaultOptions } from 'skein/embedded'

/** Faults that hit the command at a boundary, and those after it. */
export const FAULTS: { readonly [title: string]: FaultOptions } = {
  'an error before': { answer: 4 },
  'a time-out before': { answer: 9 },
  'a time-out after the effect': { answer: 9, after: true },
  'the connection lost before': { drop: true },
  'the connection lost after the effect': { drop: true, after: true },
  'cut off from there on': { drop: true, times: 1_000_000 },
  'cut off right after the effect': { drop: true, after: true, times: 1_000_000 },
}

/** True where every fault at every command is asked for, which takes minutes. */
export const ALL_FAULTS = process.env.SKEIN_FAULTS === 'all'
