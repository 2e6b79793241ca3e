export { compileExpression, compileFilter, evaluate, passesFilter, type CompiledExpression } from './compile.js'
export { modifyExpression, readExpression, type ExpressionChange } from './operation.js'
export type { RecordView } from './record-view.js'
