import { expect } from 'chai'
import { compileModel, ModelError, type EntityClass, type ModelProblem } from 'skein'

/** Everything that is wrong with the classes. */
export function problemsOf(...classes: EntityClass[]): readonly ModelProblem[] {
  try {
    compileModel(classes, { namespace: 'test' })
  } catch (error) {
    if (error instanceof ModelError) return error.problems
    throw error
  }
  return []
}

/** Asserts that there is exactly one problem, where it is, and that its message and fix say what they should. */
export function expectProblem(
  classes: EntityClass[],
  code: ModelProblem['code'],
  where: string,
  message: RegExp,
  fix: RegExp,
): void {
  const problems = problemsOf(...classes)
  const summary = problems.map((problem) => `${problem.code} ${place(problem)}: ${problem.message}`)
  expect(problems, summary.join('\n')).to.have.length(1)
  expect(problems[0].code).to.equal(code)
  expect(place(problems[0])).to.equal(where)
  expect(problems[0].message).to.match(message)
  expect(problems[0].fix).to.match(fix)
}

function place({ className, property }: ModelProblem): string {
  return property === undefined ? className : `${className}.${property}`
}
