import { commandBytes } from './wire-bytes.js'
import type { Command, Guard, WriteCommand } from './command.js'
import { showKey } from './record-key.js'
import { showExpression } from './show-expression.js'
import { showOperation } from './show-operation.js'
import { showValue } from './show-value.js'

/** Parts of a command that may be shown. Logs show neither unless asked; errors show keys; `explain()` shows both. */
export interface Reveal {
  readonly keys: boolean
  readonly values: boolean
}

export const REVEAL_ALL: Reveal = Object.freeze({ keys: true, values: true })
export const REVEAL_KEYS: Reveal = Object.freeze({ keys: true, values: false })
export const REVEAL_NOTHING: Reveal = Object.freeze({ keys: false, values: false })

/** The command in one line: what, where, under which conditions, how much. */
export function showCommand(command: Command, reveal: Reveal): string {
  return oneLine(command, reveal, [])
}

/** The command in one line, with its values where they may be shown. */
export function showCommandWithValues(command: Command, reveal: Reveal): string {
  return oneLine(command, reveal, reveal.values ? [showOperations(command, reveal).join(', ')] : [])
}

function oneLine(command: Command, reveal: Reveal, operations: readonly string[]): string {
  const conditions = showConditions(command, reveal)
  const head = `${command.kind} ${command.entity} ${showKey(command.key, reveal.keys)}`
  return [head, ...conditions, ...operations, `${commandBytes(command)} bytes`]
    .filter((part) => part !== '')
    .join(' · ')
}

/** The command's line, then one indented line for each operation. */
export function showCommandInFull(command: Command, reveal: Reveal, indent = ''): string {
  const lines = showOperations(command, reveal).map((line) => `${indent}    ${line}`)
  return [`${indent}${showCommand(command, reveal)}`, ...lines].join('\n')
}

export function showConditions(command: Command, reveal: Reveal): string[] {
  if (command.kind === 'read')
    return command.filter === undefined ? [] : [`if ${showExpression(command.filter, reveal.values)}`]
  const conditions = command.guards.map((guard) => showGuard(guard, reveal.values))
  if (command.generation !== undefined) conditions.unshift(`if generation is ${command.generation}`)
  return command.kind === 'write' ? [EXISTENCE[command.exists], showTtl(command), ...conditions] : conditions
}

export function showOperations(command: Command, reveal: Reveal): string[] {
  if (command.kind === 'read' && command.operations === undefined) {
    if (command.bins === 'all') return ['read all bins']
    return command.bins === 'none' ? ['read whether it exists'] : [`read ${command.bins.join(', ')}`]
  }
  const lines = (command.operations ?? []).map((operation) => showOperation(operation, reveal.values))
  return command.kind === 'write' && command.watchSize ? [...lines, 'read the size of the record'] : lines
}

function showGuard(guard: Guard, values: boolean): string {
  if (guard.kind === 'filter') return `if ${showExpression(guard.expression, values)}`
  if (guard.kind === 'binEquals' && guard.meaning !== undefined) return `if ${guard.meaning}`
  if (guard.expected === null) return `if ${guard.bin} is absent`
  return guard.kind === 'version' || values ? `if ${guard.bin} is ${showValue(guard.expected)}` : `if ${guard.bin} is …`
}

const EXISTENCE: Record<WriteCommand['exists'], string> = {
  mustNotExist: 'must not exist',
  mustExist: 'must exist',
  upsert: 'create or update',
  replace: 'create or replace',
}

function showTtl(command: WriteCommand): string {
  if (command.ttl === 'keep') return 'keep expiry'
  if (command.ttl === 'never') return 'never expires'
  return command.ttl === 'default' ? 'default expiry' : `expires in ${command.ttl} s`
}
