// `albaran demo`
import { type AddCommand, fields } from '../command.ts';
import { DEMO, loadDemo } from '../demo.ts';

export const addDemo: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('demo')
    .description('loads the demo company if it is missing, and shows an API key and a sign-in for it')
    .action(() =>
      onDatabase(async (opened) => {
        const key = await loadDemo(opened, interruption, { intoEmpty: false });
        return key
          ? { json: { account: DEMO, ...key }, text: fields({ account: DEMO, ...key }) }
          : {
              json: { account: DEMO },
              text: `The demo company is there already. For a key: albaran key create --account ${DEMO}`,
            };
      }),
    );
