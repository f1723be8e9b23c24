import { Button } from 'react-aria-components/Button'
import { PageTitle } from './page-title.tsx'

/** Shown when the app has failed, or a part of it could not be loaded. Reloading helps. */
export function CrashView() {
  return (
    <div className="empty">
      <PageTitle title="This page could not be shown" />
      <p className="soft">Reload the page: a newer version may be available. Your orders are not affected.</p>
      <Button className="button button-primary" onPress={() => location.reload()}>
        Reload the page
      </Button>
    </div>
  )
}
