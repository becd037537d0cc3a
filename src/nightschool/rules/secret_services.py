"""Keys of services by their published shapes. Relieves `secret_shapes` of the table: one row a shape.

`kind` is what the stand-in names. A key begins with one of the prefixes, which `least` or more of `body`
follow. `+` marks shapes whose prefix ordinary words have too: the rest must hold a digit and a letter.
`least` is below the published length where a vendor has changed it before, or where keys are shown cut.

Where a shape is published: `gitleaks:` and `kingfisher:` name a rule of those scanners, all else is a page
of the vendor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

import re2

WORD = "A-Za-z0-9_-"
ALNUM = "A-Za-z0-9"
UPPER = "A-Z0-9"
HEX = "0-9a-f"
BASE64 = "A-Za-z0-9+/="
DOTTED = "A-Za-z0-9_.-"
_BODIES = {
    "word": WORD,
    "alnum": ALNUM,
    "upper": UPPER,
    "hex": HEX,
    "anyhex": "0-9A-Fa-f",
    "uuid": "0-9a-f-",
    "base64": BASE64,
    "dotted": DOTTED,
    "low": "a-z0-9",
    "alnum_": "A-Za-z0-9_",
    "alnum.": "A-Za-z0-9.",
    "alnum/": "A-Za-z0-9_/",
    "base64_": "A-Za-z0-9_+/=",
    "base64-": "A-Za-z0-9_+/=-",
    "base64,": "A-Za-z0-9_+/=,",
    "percent": "A-Za-z0-9+/=%",
    "word/": "A-Za-z0-9_/-",
    "word=": "A-Za-z0-9_=-",
    "upper.": "A-Z0-9.",
    "upper-": "A-Z0-9-",
}

_TABLE = """
adafruit      24  alnum   +  kingfisher:adafruitio.1                aio_
adobe         32  alnum   +  gitleaks:adobe-client-secret           p8e-
age           40  upper   .  gitleaks:age-secret-key                AGE-SECRET-KEY-1
airtable      78  alnum.  +  kingfisher:airtable.1                  pat
alibaba       17  alnum   +  gitleaks:alibaba-access-key-id         LTAI
anthropic     16  word    .  kingfisher:anthropic.1                 sk-ant-
apify         30  alnum   .  kingfisher:apify.1                     apify_api_
artifactory   40  alnum   +  kingfisher:artifactory.1               AKCp
atlassian     40  word=   .  gitleaks:atlassian-api-token           ATATT3 ATCTT3
authress      60  base64- +  gitleaks:authress-service-client-access-key  authress_ scauth_
aws           16  upper   .  gitleaks:aws-access-token              AKIA ASIA ABIA ACCA
aws           60  base64  .  kingfisher:aws.bedrock.long_lived      ABSKQmVkcm9ja0FQSUtleS
aws           40  base64  .  kingfisher:aws.6                       bedrock-api-key-
aws           40  hex     .  docs.aws.amazon.com/AmazonS3/latest/API  X-Amz-Signature=
aws           40  percent +  docs.aws.amazon.com/AmazonS3/latest/API  X-Amz-Security-Token=
aws           27  percent +  docs.aws.amazon.com/AmazonS3/latest/API  Signature=
azure         20  percent +  learn.microsoft.com/rest/api/storageservices/create-service-sas  sig=
azure         20  percent +  kingfisher:azure.1                     AccountKey= SharedAccessKey=
bitbucket     24  alnum   +  support.atlassian.com/bitbucket-cloud/docs/app-passwords  ATBB
brevo         40  word    +  gitleaks:sendinblue-api-token          xkeysib- xsmtpsib-
buildkite     40  low     .  kingfisher:buildkite.1                 bkua_
cerebras      40  low     +  kingfisher:cerebras.1                  csk-
circleci      30  alnum_  +  kingfisher:circleci.1                  CCIPAT_ CCIPRJ_
clickhouse    38  alnum   +  gitleaks:clickhouse-cloud-api-secret-key  4b1d
clojars       40  low     .  gitleaks:clojars-api-token             CLOJARS_
cloudflare    40  word    +  developers.cloudflare.com/fundamentals/api/get-started  cfk_ cfut_ cfat_
cloudflare   100  uuid    .  gitleaks:cloudflare-origin-ca-key      v1.0-
confluent     54  base64  +  kingfisher:confluent.3                 cflt
contentful    40  word    .  kingfisher:contentful.2                CFPAT-
coze          60  alnum   +  kingfisher:coze.1                      pat_
cratesio      32  alnum   +  kingfisher:cratesio.1                  cio
databricks    32  hex     .  gitleaks:databricks-api-token          dapi
dependencytrack 32 alnum  +  kingfisher:dtrack.1                    odt_
digitalocean  32  hex     .  gitleaks:digitalocean-pat              dop_v1_ doo_v1_ dor_v1_
discord       60  word/   .  kingfisher:discord.1  discord.com/api/webhooks/ discordapp.com/api/webhooks/
docker        20  word    +  kingfisher:dockerhub.1                 dckr_pat_ dckr_oat_
doppler       40  dotted  .  kingfisher:doppler.3     dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.
dropbox      100  word    .  kingfisher:dropbox.1                   sl.
duffel        40  word=   .  gitleaks:duffel-api-token              duffel_test_ duffel_live_
dynatrace     40  upper.  .  gitleaks:dynatrace-api-token           dt0c01. dt0s01. dt0s16.
easypost      50  alnum   .  gitleaks:easypost-api-token            EZAK EZTK
elevenlabs    48  hex     +  kingfisher:elevenlabs.1                sk_
facebook      60  alnum   +  gitleaks:facebook-page-access-token    EAACEdEose0cBA EAAG EAAM EAAC
figma         30  word    +  kingfisher:figma.1                     figd_ figu_
firecrawl     32  hex     +  kingfisher:firecrawl.1                 fc-
fireworks     24  alnum   +  kingfisher:fireworks.1                 fw_
flutterwave   30  alnum   .  gitleaks:flutterwave-secret-key        FLWSECK_TEST- FLWSECK-
fly           40  base64, +  gitleaks:flyio-access-token            fm2_ fm1r_ fm1a_
fly           40  word    +  gitleaks:flyio-access-token            fo1_
frameio       60  word=   .  gitleaks:frameio-api-token             fio-u-
friendli      40  alnum   +  kingfisher:friendli.1                  flp_
github        16  alnum_  +  kingfisher:github.2         ghp_ gho_ ghu_ ghs_ ghr_ github_pat_
gitlab        16  word    .  docs.gitlab.com/security/tokens  glpat- gldt- glptt- glrt- glrtr- glcbt-
gitlab        16  word    .  docs.gitlab.com/security/tokens  glsoat- glft- gloas- glimt- glagent- glffct-
gitlab        20  word    .  kingfisher:gitlab.2                    GR1348941
google        30  word    +  gitleaks:gcp-api-key                   AIza
google        20  dotted  .  kingfisher:google.4                    ya29. GOCSPX-
google       100  hex     .  cloud.google.com/storage/docs/access-control/signed-urls  X-Goog-Signature=
grafana       30  base64_ +  gitleaks:grafana-service-account-token glsa_ glc_
groq          40  alnum   +  kingfisher:groq.1                      gsk_
harness       60  dotted  +  gitleaks:harness-api-key               pat. sat.
heroku        30  word    .  kingfisher:heroku.2                    HRKU-
honeycomb     50  low     +  docs.honeycomb.io/configure/environments/manage-api-keys  hcaik_ hcaic_
hubspot       36  uuid    .  kingfisher:hubspot.1                   pat-na1- pat-na2- pat-eu1-
huggingface   20  alnum   +  gitleaks:huggingface-access-token      hf_ api_org_
infracost     32  alnum   +  gitleaks:infracost-api-token           ico-
fortytwo      60  hex     .  gitleaks:intra42-client-secret         s-s4t2ud- s-s4t2af-
ionic         42  low     +  kingfisher:ionic.1                     ion_
jina          50  alnum   +  kingfisher:jina.1                      jina_
langfuse      16  word    +  langfuse.com/docs                      sk-lf-
langsmith     32  alnum_  .  kingfisher:langchain.1                 lsv2_pt_ lsv2_sk_
linear        32  alnum   .  gitleaks:linear-api-key                lin_api_ lin_oauth_
llamacloud    40  alnum   +  docs.cloud.llamaindex.ai/api             llx-
mailgun       32  hex     .  gitleaks:mailgun-private-api-token     key-
mailgun       30  alnum   +  gitleaks:mailgun-pub-key               pubkey-
mongodb       34  word    .  kingfisher:mongodb.4                   mdb_sa_sk_
neon          40  low     +  neon.com/docs/manage/api-keys          napi_
netlify       32  alnum   +  docs.netlify.com/api-and-cli-guides    nfp_
newrelic      24  upper   .  gitleaks:new-relic-user-api-key        NRAK- NRJS-
newrelic      30  word    .  gitleaks:new-relic-insert-key          NRII-
notion        40  alnum   +  kingfisher:notion.1                    secret_ ntn_
notion        40  alnum_  +  kingfisher:notion.3                    nrt_
npm           30  alnum   +  gitleaks:npm-access-token              npm_
nuget         43  low     +  kingfisher:nuget.1                     oy2
nvidia        50  word    +  kingfisher:nvidia.nim.1                nvapi-
octopus       26  upper   +  gitleaks:octopus-deploy-api-key        API-
onepassword   60  base64- .  gitleaks:1password-service-account-token  ops_eyJ
onepassword   36  upper-  .  kingfisher:1password.2                 A3-
openai        16  word    +  kingfisher:openai.2  sk-proj- sk-svcacct- sk-admin- sk-None-
openai        20  alnum   +  kingfisher:openai.1                    sk-
openrouter    16  word    .  openrouter.ai/docs/api-reference/authentication  sk-or-v1-
openshift     40  word    .  gitleaks:openshift-user-token          sha256~
perplexity    32  alnum   +  kingfisher:perplexity.1                pplx-
pinecone      32  alnum_  +  docs.pinecone.io/guides/projects/manage-api-keys  pcsk_
plaid         36  uuid    .  gitleaks:plaid-api-token  access-sandbox- access-development- access-production-
planetscale   30  dotted  .  gitleaks:planetscale-password          pscale_tkn_ pscale_pw_ pscale_oauth_
posthog       40  word    .  kingfisher:posthog.2                   phx_
postman       40  word    .  gitleaks:postman-api-token             PMAK-
prefect       32  alnum   +  gitleaks:prefect-api-token             pnu_ pnb_
pulumi        40  hex     .  gitleaks:pulumi-api-token              pul-
pypi          32  word    +  gitleaks:pypi-upload-token             pypi-
readme        60  alnum   +  gitleaks:readme-api-token              rdme_
replicate     32  alnum   +  kingfisher:replicate.1                 r8_
rubygems      40  hex     .  gitleaks:rubygems-api-token            rubygems_
runway       100  anyhex  .  kingfisher:runway.1                    key_
scalingo      40  word    .  gitleaks:scalingo-api-token            tk-us-
segment       60  word    .  kingfisher:segment.1                   sgp_
sendgrid      32  dotted  +  gitleaks:sendgrid-api-token            SG.
sentry        40  base64_ .  gitleaks:sentry-org-token              sntrys_ sntryu_
settlemint    16  alnum   .  gitleaks:settlemint-personal-access-token  sm_pat_ sm_aat_ sm_sat_
shippo        40  anyhex  .  gitleaks:shippo-api-token              shippo_live_ shippo_test_
shopify       32  alnum   .  gitleaks:shopify-access-token          shpat_ shpca_ shppa_ shpss_
slack         10  word    .  gitleaks:slack-bot-token   xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd-
slack         10  word    .  gitleaks:slack-app-token               xapp-
slack         20  alnum/  .  gitleaks:slack-webhook-url             hooks.slack.com/services/T
slack         20  alnum/  .  gitleaks:slack-webhook-url             hooks.slack.com/workflows/T
slack         20  alnum/  .  gitleaks:slack-webhook-url             hooks.slack.com/triggers/T
sonarqube     40  low     .  kingfisher:sonarqube.1                 sqp_ squ_ sqa_
sourcegraph   40  alnum_  +  gitleaks:sourcegraph-access-token      sgp_
sourcegraph   60  hex     .  kingfisher:sourcegraph.3               slk_
square        22  word    .  gitleaks:square-access-token           sq0atp- sq0csp-
square        60  word=   +  kingfisher:square.1                    EAAA
stackhawk     40  dotted  +  kingfisher:stackhawk.1                 hawk.
stripe        16  alnum   .  gitleaks:stripe-access-token           sk_live_ rk_live_ sk_test_ rk_test_
stripe        16  alnum   .  gitleaks:stripe-access-token           sk_prod_ rk_prod_
stripe        16  alnum   .  docs.stripe.com/keys                   sk_org_
stripe        20  base64  .  docs.stripe.com/webhooks               whsec_
supabase      30  alnum   +  kingfisher:supabase.1                  sbp_
supabase      20  word    +  kingfisher:supabase.2                  sb_secret_
tailscale     16  word    +  kingfisher:tailscale.1    tskey-api- tskey-auth- tskey-client- tskey-scim-
tavily        24  word    +  kingfisher:tavily.1                    tvly-
together      40  word    .  kingfisher:together.1                  tgp_v1_
twilio        32  hex     .  gitleaks:twilio-api-key                SK AC
typeform      40  dotted  +  gitleaks:typeform-api-token            tfp_
vault         24  word    +  gitleaks:vault-service-token           hvs. hvb. hvr.
vercel        20  alnum   +  vercel.com/changelog/new-token-formats-and-secret-scanning  vcp_ vci_ vca_
vercel        20  alnum   +  vercel.com/changelog/new-token-formats-and-secret-scanning  vcr_ vck_
vercel        20  alnum   +  vercel.com/docs/vercel-blob            vercel_blob_rw_
voyage        40  word    +  kingfisher:voyageai.api_key            pa-
xai           60  alnum   +  kingfisher:xai.1                       xai-
yandex        35  word    +  gitleaks:yandex-api-key                AQVN
zuplo         40  alnum_  +  kingfisher:zuplo.1                     zpka_
"""

_AROUND = """
azure         4   [A-Za-z0-9_~.]{3}[0-9]     Q~        31  [A-Za-z0-9_~.-]   gitleaks:azure-ad-client-secret
azure         76  [A-Za-z0-9]{76}            AZDO      4   [A-Za-z0-9]       kingfisher:azure.devops.2
mailchimp     32  [0-9a-f]{32}               -us       1   [0-9]             gitleaks:mailchimp-api-key
maxmind       36  [A-Za-z0-9]{6}_[A-Za-z0-9]{29}  _mmk  0  [0-9]             gitleaks:maxmind-license-key
salesforce    15  00[A-Za-z0-9]{13}          !         80  [A-Za-z0-9._-]    kingfisher:salesforce.1
terraform     14  [A-Za-z0-9]{14}            .atlasv1. 60  [A-Za-z0-9_=-]    gitleaks:hashicorp-tf-api-token
"""
"""Keys that are known by a mark in their middle: how long and what stands before it, the mark, and how much
of what follows it."""

_SIGNS = {
    "A-Z": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "A-F": "ABCDEF",
    "a-z": "abcdefghijklmnopqrstuvwxyz",
    "a-f": "abcdef",
    "0-9": "0123456789",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A token that is known by how it begins: a fixed prefix, then at least `least` of `body`."""

    kind: str
    prefix: str
    least: int
    body: str
    mixed: bool
    """The rest must hold a digit and a letter."""
    source: str
    """Where the shape is published."""

    def example(self, random: Random, more: int = 0) -> str:
        """A key of this shape that nobody ever had, with digits and letters, and `more` than the least."""
        signs = letters(self.body)
        plain = "".join(sign for sign in signs if sign.isalnum())
        letter = random.choice("".join(sign for sign in plain if sign.isalpha()))
        middle = "".join(random.choices(signs, k=max(0, self.least - 3) + more))
        return f"{self.prefix}{letter}{random.choice('0123456789')}{middle}{random.choice(plain)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A token that is known by a mark within it: `length` bytes like `before`, then at least `least`."""

    kind: str
    length: int
    before: str
    mark: str
    least: int
    body: str
    source: str

    @property
    def after(self) -> str:
        return f"{re2.escape(self.mark)}{self.body}{{{self.least}}}"

    def example(self, random: Random, more: int = 0) -> str:
        """A key of this shape that nobody ever had."""
        head = "".join(_any_of(random, *piece) for piece in _PIECE.findall(self.before))
        return f"{head}{self.mark}{_any_of(random, self.body, str(self.least + more), '')}"


_PIECE = re.compile(r"(\[[^\]]+\])(?:\{(\d+)\})?|([A-Za-z0-9_])")


def _any_of(random: Random, among: str, times: str, sign: str) -> str:
    """What a piece of a pattern stands for: signs of a class, or the sign itself."""
    return sign or "".join(random.choices(letters(among[1:-1].removesuffix("-")), k=int(times or 1)))


def letters(body: str) -> str:
    """The characters that a class of a pattern allows."""
    rest, found = body, ""
    for written, allowed in _SIGNS.items():
        if written in rest:
            rest, found = rest.replace(written, ""), found + allowed
    return found + rest


def _rows() -> list[Shape]:
    found = []
    for line in _TABLE.strip().splitlines():
        kind, least, body, sign, source, *prefixes = line.split()
        found += [
            Shape(
                kind=kind,
                prefix=prefix,
                least=int(least),
                body=_BODIES[body],
                mixed=sign == "+",
                source=source,
            )
            for prefix in prefixes
        ]
    return found


def _marked() -> list[Around]:
    found = []
    for line in _AROUND.strip().splitlines():
        kind, length, before, mark, least, body, source = line.split()
        found.append(
            Around(
                kind=kind,
                length=int(length),
                before=before,
                mark=mark,
                least=int(least),
                body=body,
                source=source,
            )
        )
    return found


SHAPES: tuple[Shape, ...] = tuple(_rows())
MARKED: tuple[Around, ...] = tuple(_marked())
