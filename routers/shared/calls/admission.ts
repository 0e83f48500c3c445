// Whether a call may be made: the caller (401), the scope (403), the quota (429). ENV-09
import type { CallContext, Service } from '../../../platform/context.ts';
import { ApiError, forbidden } from '../../../platform/errors.ts';
import type { Principal, Scope } from '../../../platform/principal.ts';
import type { QuotaState } from '../../../platform/quota.ts';

/** What a call gets when it is admitted. */
export interface Admission {
  principal: Principal;
  /** Whether its form was found right, that of its ids too; before that nobody asked whether the caller's key still lives. */
  progress: { formed: boolean };
}

/** 401, 403, 429: everything that is asked of a caller before the input is looked at. ENV-09 */
export async function admit(ctx: CallContext, scope: Scope): Promise<Principal> {
  const principal = ctx.principal ?? ctx.caller ?? (await ctx.service.keys.authenticate(ctx.credentials));
  ctx.caller = principal;
  if (!principal.scopes.has(scope)) {
    await countRefusal(ctx, principal);
    throw forbidden();
  }
  await countCall(ctx, principal);
  return principal;
}

/**
 * Counts a call that is about to be a 403 and asks whether its key still lives: 401 where it does not. With the quota spent
 * the database is not asked, and the 403 comes all the same (ENV-09): refusals without end would be work without end. FAIR-05
 */
async function countRefusal(ctx: CallContext, principal: Principal): Promise<void> {
  try {
    await countCall(ctx, principal);
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'quotaSpent') return;
    throw error;
  }
  await revalidate(ctx.service, principal);
}

/** Counts one call in its company's quota; 429 once it is spent. LIM-01 */
export async function countCall(ctx: CallContext, principal: Principal): Promise<void> {
  const { quota, metrics } = ctx.service;
  try {
    noteQuota(ctx, await quota.spend(principal));
    metrics?.quotaAsked('counted');
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'quotaSpent') {
      metrics?.quotaAsked('refused');
      noteQuota(ctx, { ...quota.peek(principal), remaining: 0 });
    }
    throw error;
  }
}

export const credentialOf = ({ clock }: Service, { credential }: Principal) => ({ credential, now: clock.now() });

/** 401 for a caller who is remembered but whose key no longer lives: before any refusal that asks the database nothing. */
export const revalidate = (service: Service, principal: Principal) =>
  service.database.transaction(principal.accountId, { credential: credentialOf(service, principal) }, async () => {});

/** draft-ietf-httpapi-ratelimit-headers */
function noteQuota(ctx: CallContext, quota: QuotaState) {
  const { limit, remaining, resetSeconds } = quota;
  ctx.quota = quota;
  ctx.headers['RateLimit-Policy'] = `"empresa";q=${limit};w=60`;
  ctx.headers.RateLimit = `"empresa";r=${remaining};t=${resetSeconds}`;
}
