import type { FileResult } from './run-file.js'

const COLUMNS = ['file', 'mode', 'passing', 'expected', 'failing', 'pending', ''] as const

export function falls(result: FileResult): boolean {
  return result.passing < result.file.passing
}

/** One line per file, and the tests that failed below. */
export function printTable(results: readonly FileResult[]): string {
  const rows = results.map((result) => [
    result.file.name,
    result.file.namespace.mode ?? 'sc',
    result.passing,
    result.file.passing,
    result.failures.length,
    result.pending,
    falls(result) ? 'too few' : '',
  ])
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
  const lines = [COLUMNS, ...rows, ['total', '', sum(2), sum(3), sum(4), sum(5), '']].map(printRow)
  const failures = results.flatMap(({ file, failures }) =>
    failures.map(({ title, message }) => `${file.name}: ${title}\n    ${message.split('\n').join('\n    ')}`),
  )
  return [...lines, ...(failures.length > 0 ? ['', 'Failing:', ...failures] : [])].join('\n')
}

function printRow(cells: readonly (string | number)[]): string {
  const widths = [22, 6, 9, 10, 9, 9, 0]
  return cells
    .map((cell, i) => (i < 2 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i])))
    .join(' ')
    .trimEnd()
}
