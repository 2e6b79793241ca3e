import { write, type Command, type WriteCommand } from './command.js'

/** Commands that go out together; the next stage starts when all of them are answered. */
export interface Stage {
  /** Purpose of the stage in a few words: 'create', 'add references', 'remove references', 'delete'. */
  readonly title: string
  readonly commands: readonly Command[]
  /** Set when the commands can only be known after a read: says in words what will follow, in a line for each read. */
  readonly afterRead?: string
}

/** Commands of one save, delete or flush. */
export interface Plan {
  readonly stages: readonly Stage[]
  /** True when one multi-record transaction carries all stages. */
  readonly transaction: boolean
}

export function stage(title: string, commands: readonly Command[], afterRead?: string): Stage {
  return { title, commands, afterRead }
}

/** A plan as it is shown: plain data, frozen all the way down. */
export function plan(stages: readonly Stage[], options: { transaction?: boolean } = {}): Plan {
  const used = stages.filter((one) => one.commands.length > 0 || one.afterRead !== undefined)
  return Object.freeze({ stages: Object.freeze(used.map(frozenStage)), transaction: options.transaction ?? false })
}

function frozenStage({ title, commands, afterRead }: Stage): Stage {
  return Object.freeze({ title, commands: Object.freeze(commands.map(frozenCommand)), afterRead })
}

function frozenCommand(command: Command): Command {
  Object.freeze(command.key)
  Object.freeze(command.operations)
  command.operations?.forEach(Object.freeze)
  return Object.freeze(command.kind === 'write' && command.bins !== undefined ? writtenOut(command) : command)
}

function writtenOut({ entity, key, operations, ...options }: WriteCommand): WriteCommand {
  const { exists, guards, ttl, sendKey, watchSize, watchGeneration } = options
  return write(entity, key, operations, { exists, guards, ttl, sendKey, watchSize, watchGeneration })
}
