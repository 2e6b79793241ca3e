import { commandBytes } from './wire-bytes.js'
import type { Command } from './command.js'
import type { Plan, Stage } from './plan.js'
import { REVEAL_ALL, showCommandInFull, showConditions, showOperations, type Reveal } from './show-command.js'
import { jsonValue } from './show-value.js'

/** A command of an explained plan, as JSON. */
interface ExplainedCommand {
  readonly kind: Command['kind']
  readonly class: string
  readonly namespace: string
  readonly set: string
  readonly key: unknown
  readonly operations: readonly string[]
  readonly guards: readonly string[]
  readonly bytes: number
}

interface ExplainedStage {
  readonly title: string
  readonly commands: readonly ExplainedCommand[]
  readonly afterRead?: string
}

/** A plan for people (`String(explanation)`) and for machines (`JSON.stringify(explanation)`). */
export class Explanation {
  readonly plans: readonly Plan[]
  readonly #reveal: Reveal

  constructor(plans: readonly Plan[], reveal: Reveal = REVEAL_ALL) {
    this.plans = plans.filter((plan) => plan.stages.length > 0)
    this.#reveal = reveal
  }

  get commands(): readonly Command[] {
    return this.plans.flatMap((plan) => plan.stages.flatMap((stage) => stage.commands))
  }

  get bytes(): number {
    return this.commands.reduce((sum, command) => sum + commandBytes(command), 0)
  }

  toString(): string {
    if (this.plans.length === 0) return 'Nothing to do: no command would be sent.'
    const count = this.commands.length
    const isOpen = this.plans.some(({ stages }) => stages.some(({ afterRead }) => afterRead !== undefined))
    const more = isOpen ? ', and what follows from reads' : ''
    const head = `${count} ${count === 1 ? 'command' : 'commands'}, about ${this.bytes} bytes${more}`
    return [head, ...this.plans.map((plan) => showPlan(plan, this.#reveal))].join('\n')
  }

  toJSON(): { plans: { transaction: boolean; stages: ExplainedStage[] }[]; bytes: number } {
    const plans = this.plans.map((plan) => ({
      transaction: plan.transaction,
      stages: plan.stages.map((stage) => explainStage(stage, this.#reveal)),
    }))
    return { plans, bytes: this.bytes }
  }
}

function showPlan(plan: Plan, reveal: Reveal): string {
  const indent = plan.transaction ? '  ' : ''
  const stages = plan.stages.map((stage, i) => showStage(stage, i + 1, reveal, indent))
  return (plan.transaction ? ['in one transaction', ...stages] : stages).join('\n')
}

function showStage(stage: Stage, number: number, reveal: Reveal, indent: string): string {
  const lines = [`${indent}stage ${number}: ${stage.title}`]
  for (const text of stage.afterRead?.split('\n') ?? []) lines.push(`${indent}  after a read: ${text}`)
  return [...lines, ...stage.commands.map((command) => showCommandInFull(command, reveal, `${indent}  `))].join('\n')
}

function explainStage(stage: Stage, reveal: Reveal): ExplainedStage {
  const commands = stage.commands.map((command) => explainCommand(command, reveal))
  return { title: stage.title, commands, ...(stage.afterRead === undefined ? {} : { afterRead: stage.afterRead }) }
}

function explainCommand(command: Command, reveal: Reveal): ExplainedCommand {
  return {
    kind: command.kind,
    class: command.entity,
    namespace: command.key.namespace,
    set: command.key.set,
    key: reveal.keys ? jsonValue(command.key.key) : '…',
    operations: showOperations(command, reveal),
    guards: showConditions(command, reveal),
    bytes: commandBytes(command),
  }
}
