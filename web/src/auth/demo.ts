export interface DemoAccount {
  userName: string
  email: string
  password: string
  role: string
}

const given = document.querySelector<HTMLMetaElement>('meta[name="demo-accounts"]')?.content

/** Put into the page by a development service whose demo accounts have their published passwords. */
export const demoAccounts: readonly DemoAccount[] = given ? JSON.parse(given) : []
