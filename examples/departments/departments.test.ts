import { expect } from 'chai'
import { main } from './main.js'

describe('the example departments', () => {
  it('finds, moves, pages and deletes employees by index', async () => {
    const lines: string[] = []
    await main((text) => lines.push(text), 801)
    expect(lines).to.deep.equal([
      'index employee_department: 100 %',
      'Sales has 801 employees',
      'Employee 7 moves to Research: 3 commands in 3 round trips',
      'Research: employee 7',
      '4 pages show 800 employees of Sales',
      'Sales and its employees are deleted, in steps',
      'Left: employee 7',
    ])
  }).timeout(60_000)
})
