import type { Events, FlushEvent } from '../../../driver/events.js'
import { commandBytes } from '../../../plan/wire-bytes.js'
import type { RunResult } from './execute-stages.js'

/** Publishes to `skein:flush` what a flush did; called while somebody listens. */
export function publishFlush(events: Events, session: number, result: RunResult, ms: number, error: unknown): void {
  const { stages, outcomes, failed } = result
  const event: FlushEvent = {
    commands: outcomes.length,
    stages: stages.length,
    written: outcomes.length - failed.length,
    bytes: outcomes.reduce((sum, { command }) => sum + commandBytes(command), 0),
    ms,
    session,
    error,
  }
  events.flush(event)
}
