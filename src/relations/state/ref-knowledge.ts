/**
 * Knowledge of what the record holds.
 *
 * | known    | + set    | + read | + its write | + the target has no record |
 * | -------- | -------- | ------ | ----------- | -------------------------- |
 * | unread   | setBlind | read   | read        |                            |
 * | setBlind | setBlind | read   | read        |                            |
 * | read     | read     | read   | read        | missing                    |
 * | missing  | read     | read   | read        | missing                    |
 *
 * `unread`: the bin was not read (`only`). `setBlind`: it was given something to point to, or nothing, before anybody
 * had read what the record holds; rolled back, that is `unread` again. `missing`: the key was looked up and has no record.
 */
export type Known = 'unread' | 'setBlind' | 'read' | 'missing'
