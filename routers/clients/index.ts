import { createClient } from './create-client.ts';
import { getClient } from './get-client.ts';
import { listClients } from './list-clients.ts';
import { updateClient } from './update-client.ts';

export const clients = { clients: { list: listClients, get: getClient, create: createClient, update: updateClient } };
