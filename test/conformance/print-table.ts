import type { Verdict } from './verdict.js'

type Cell = string | number

const COLUMNS: readonly Cell[] = ['file', 'mode', 'passing', 'expected', 'excused', 'failing', 'pending', '']
const WIDTHS = [22, 6, 9, 10, 9, 9, 9, 0]

/** Prints a line per file, and below it the tests that failed. */
export function printTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(printFile)
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
  const lines = [COLUMNS, ...rows, ['total', '', sum(2), sum(3), sum(4), sum(5), sum(6), '']].map(printRow)
  const failing = verdicts.flatMap(({ result, failing }) =>
    failing.map(({ title, message }) => `${result.file.name}: ${title}\n    ${message.split('\n').join('\n    ')}`),
  )
  const excused = verdicts.flatMap(({ result, excused }) =>
    excused.map(({ title, reason }) => `${result.file.name}: ${title} (${reason})`),
  )
  return [...lines, ...section('Failing', failing), ...section('Excused: cannot pass here', excused)].join('\n')
}

function printFile({ result, excused, failing, ok }: Verdict): Cell[] {
  const { file, passing, pending, crashes } = result
  const remark = [ok ? '' : 'NOT OK', crashes > 0 ? '(the client crashed; run again)' : ''].join(' ').trim()
  const mode = file.namespace.mode ?? 'sc'
  return [file.name, mode, passing, file.passing, excused.length, failing.length, pending, remark]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines]
}

function printRow(cells: readonly Cell[]): string {
  return cells
    .map((cell, i) => (i < 2 ? String(cell).padEnd(WIDTHS[i]) : String(cell).padStart(WIDTHS[i])))
    .join(' ')
    .trimEnd()
}
