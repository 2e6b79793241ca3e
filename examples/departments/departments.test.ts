import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Department, Employee } from './models.js'

describe('the example departments', () => {
  it('finds, moves, pages and deletes employees by index', async () => {
    await readyForExample([Department, Employee], ['employee_department'])
    const lines: string[] = []
    await main((text) => lines.push(text), 801)
    expect(lines).to.include('index employee_department: 100 %')
    const steps = lines.filter((line) => !line.startsWith('index'))
    const counted = /: [\d,]+ commands? in [\d,]+ round trips?$/
    for (const step of steps.slice(0, -1)) expect(step).to.match(counted)
    expect(steps).to.include('Employee 7 moves to Research: 3 commands in 3 round trips')
    expect(steps.map((step) => step.replace(counted, ''))).to.deep.equal([
      'Two departments',
      'Employees are hired, 500 at a time',
      'Sales has 801 employees',
      'Employee 7 moves to Research',
      'Research: employee 7',
      '4 pages show 800 employees of Sales',
      'Sales and its employees are deleted, in steps',
      'Left: employee 7',
    ])
  })
})
