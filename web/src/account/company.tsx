import { Button } from 'react-aria-components/Button'
import { useAction } from '../auth/action.ts'
import { companyName, linkCompany } from '../auth/company.ts'
import { announce } from '../ui/announce.ts'
import { EndNote } from '../ui/failure.tsx'
import { Section } from '../ui/section.tsx'
import { unlinkCompany } from './queries.ts'

/** Links the person's company account, or unlinks it. Linking leaves the page. */
export function OwnCompanyAccount({ isLinked }: { isLinked: boolean }) {
  const linking = useAction(linkCompany)
  const unlinking = useAction(unlinkCompany, () => announce('Your company account has been unlinked.'))
  const failure = linking.error ?? unlinking.error
  return (
    <Section title="Company account">
      <p className="soft">
        {isLinked
          ? `You can sign in with ${companyName}.`
          : `Once it is linked, you can sign in with ${companyName}.`}
      </p>
      <div role="status">{failure != null && <EndNote failure={failure} />}</div>
      <div className="row">
        {isLinked ? (
          <Button className="button" onPress={() => unlinking.act()}>
            Unlink company account
          </Button>
        ) : (
          <Button className="button" onPress={() => linking.act()}>
            Link company account
          </Button>
        )}
      </div>
    </Section>
  )
}
