import { adjustPriceList } from './adjust-price-list.ts';
import { adjustStock } from './adjust-stock.ts';
import { createFamily } from './create-family.ts';
import { createProduct } from './create-product.ts';
import { getAvailability } from './get-availability.ts';
import { getProduct } from './get-product.ts';
import { listFamilies } from './list-families.ts';
import { listFormats } from './list-formats.ts';
import { listPriceLists } from './list-price-lists.ts';
import { listProducts } from './list-products.ts';
import { listStockMovements } from './list-stock-movements.ts';
import { updateProduct } from './update-product.ts';

export const catalogue = {
  products: {
    list: listProducts,
    get: getProduct,
    create: createProduct,
    update: updateProduct,
    listFormats,
    getAvailability,
    listStockMovements,
    adjustStock,
  },
  productFamilies: { list: listFamilies, create: createFamily },
  priceLists: { list: listPriceLists, adjust: adjustPriceList },
};
