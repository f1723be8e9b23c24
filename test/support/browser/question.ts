import type { Locator, Page } from 'playwright-core'

/** The dialog that asks about a decision, and what a person finds in it. */
export const dialog = (page: Page): Locator => page.getByRole('alertdialog')
export const closed = (page: Page) => dialog(page).waitFor({ state: 'detached' })

export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: true })
export const inDialog = (page: Page, name: string): Locator =>
  dialog(page).getByRole('button', { name, exact: true })
/** The button of an order that opens the dialog. */
export const approve = (page: Page): Locator => page.getByRole('button', { name: /^Approve/ })

export const titled = (page: Page, title: string) =>
  dialog(page).getByRole('heading', { name: title }).waitFor()
