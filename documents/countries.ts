// Countries: their codes, and the names that people write.
import { searchable } from '../platform/text.ts';

/** ISO 3166-1: the code of two letters and that of three. */
const CODES = new Map(
  `
  ADAND AEARE AFAFG AGATG AIAIA ALALB AMARM AOAGO AQATA ARARG ASASM ATAUT AUAUS AWABW AXALA AZAZE BABIH BBBRB BDBGD
  BEBEL BFBFA BGBGR BHBHR BIBDI BJBEN BLBLM BMBMU BNBRN BOBOL BQBES BRBRA BSBHS BTBTN BVBVT BWBWA BYBLR BZBLZ CACAN
  CCCCK CDCOD CFCAF CGCOG CHCHE CICIV CKCOK CLCHL CMCMR CNCHN COCOL CRCRI CUCUB CVCPV CWCUW CXCXR CYCYP CZCZE DEDEU
  DJDJI DKDNK DMDMA DODOM DZDZA ECECU EEEST EGEGY EHESH ERERI ESESP ETETH FIFIN FJFJI FKFLK FMFSM FOFRO FRFRA GAGAB
  GBGBR GDGRD GEGEO GFGUF GGGGY GHGHA GIGIB GLGRL GMGMB GNGIN GPGLP GQGNQ GRGRC GSSGS GTGTM GUGUM GWGNB GYGUY HKHKG
  HMHMD HNHND HRHRV HTHTI HUHUN IDIDN IEIRL ILISR IMIMN ININD IOIOT IQIRQ IRIRN ISISL ITITA JEJEY JMJAM JOJOR JPJPN
  KEKEN KGKGZ KHKHM KIKIR KMCOM KNKNA KPPRK KRKOR KWKWT KYCYM KZKAZ LALAO LBLBN LCLCA LILIE LKLKA LRLBR LSLSO LTLTU
  LULUX LVLVA LYLBY MAMAR MCMCO MDMDA MEMNE MFMAF MGMDG MHMHL MKMKD MLMLI MMMMR MNMNG MOMAC MPMNP MQMTQ MRMRT MSMSR
  MTMLT MUMUS MVMDV MWMWI MXMEX MYMYS MZMOZ NANAM NCNCL NENER NFNFK NGNGA NINIC NLNLD NONOR NPNPL NRNRU NUNIU NZNZL
  OMOMN PAPAN PEPER PFPYF PGPNG PHPHL PKPAK PLPOL PMSPM PNPCN PRPRI PSPSE PTPRT PWPLW PYPRY QAQAT REREU ROROU RSSRB
  RURUS RWRWA SASAU SBSLB SCSYC SDSDN SESWE SGSGP SHSHN SISVN SJSJM SKSVK SLSLE SMSMR SNSEN SOSOM SRSUR SSSSD STSTP
  SVSLV SXSXM SYSYR SZSWZ TCTCA TDTCD TFATF TGTGO THTHA TJTJK TKTKL TLTLS TMTKM TNTUN TOTON TRTUR TTTTO TVTUV TWTWN
  TZTZA UAUKR UGUGA UMUMI USUSA UYURY UZUZB VAVAT VCVCT VEVEN VGVGB VIVIR VNVNM VUVUT WFWLF WSWSM YEYEM YTMYT ZAZAF
  ZMZMB ZWZWE
`
    .trim()
    .split(/\s+/)
    .map((codes) => [codes.slice(0, 2), codes.slice(2)]),
);

/** The languages that a Spanish company's contacts are written in. */
const LANGUAGES = ['es', 'ca', 'gl', 'eu', 'en', 'fr', 'de', 'it', 'pt'];
const OTHER_NAMES = {
  UK: 'GB',
  'Gran Bretaña': 'GB',
  Inglaterra: 'GB',
  EL: 'GR',
  Holanda: 'NL',
  Holland: 'NL',
  EEUU: 'US',
  'República Checa': 'CZ',
  'Czech Republic': 'CZ',
  'Costa de Marfil': 'CI',
  'Emiratos Árabes': 'AE',
};

const EUROPEAN_UNION = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);
export const isInUnion = (code: string) => EUROPEAN_UNION.has(code);

/** The code of three letters of one of two. */
export const threeLetters = (code: string) => CODES.get(code);

/** The prefix of a country's VAT numbers. */
export const vatPrefix = (code: string) => (code === 'GR' ? 'EL' : code);

const key = (text: string) => searchable(text).replace(/[^\p{L}]/gu, '');

let names: Map<string, string> | undefined;

/** The code of two letters of a country that is written by a code or a name; without anything it is Spain. */
export function countryOf(text: string): string | undefined {
  if (text.trim() === '') return 'ES';
  names ??= namesOfAll();
  return names.get(key(text));
}

function namesOfAll(): Map<string, string> {
  const found = new Map(Object.entries(OTHER_NAMES).map(([name, code]) => [key(name), code]));
  const add = (name: string, code: string) => {
    if (!found.has(key(name))) found.set(key(name), code);
  };
  for (const [two, three] of CODES) {
    add(two, two);
    if (three) add(three, two);
  }
  for (const language of LANGUAGES) {
    const inLanguage = new Intl.DisplayNames(language, { type: 'region' });
    for (const code of CODES.keys()) add(inLanguage.of(code) ?? code, code);
  }
  return found;
}
