import type { ModelErrorCode } from './codes/all-codes.js'
import { nameErrorClass } from './error-kind.js'
import { SkeinError } from './skein-error.js'

/** A problem of the declared model. */
export interface ModelProblem {
  readonly code: ModelErrorCode
  readonly className: string
  readonly property?: string
  /** The problem, as a sentence. */
  readonly message: string
  /** The change that solves it, as a sentence. */
  readonly fix: string
}

/** The declared classes do not make a model. `problems` lists everything that is wrong, not only the first thing. */
export class ModelError extends SkeinError {
  declare readonly problems: readonly ModelProblem[]

  constructor(problems: readonly ModelProblem[]) {
    super('SKEIN_1000', summary(problems))
    // Not enumerable: the message already says it all, and printing the error should not say it twice.
    Object.defineProperty(this, 'problems', { value: Object.freeze([...problems]) })
  }
}
nameErrorClass(ModelError, 'ModelError')

function summary(problems: readonly ModelProblem[]): string {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return [`The model has ${count}:`, ...problems.map(line)].join('\n')
}

function line(problem: ModelProblem): string {
  const where = problem.property === undefined ? problem.className : `${problem.className}.${problem.property}`
  return `  ${problem.code} ${where}: ${problem.message}\n             Fix: ${problem.fix}`
}
