/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RESET_H
#define OCTO_RESET_H

struct rte_eth_dev;

/**
 * rte_eth_dev_reset() of the port, which ethdev has stopped: reset every PF. What the application
 * has made is gone, and the port has to be configured.
 *
 * @return
 *   0, -EPERM in a secondary process, -ENOTSUP with replug=off or if a PF cannot be reset by its
 *   driver; nothing is changed then. -EIO if no PF is left; the port looks for PFs when it starts.
 */
int octo_reset(struct rte_eth_dev *dev);

#endif /* OCTO_RESET_H */
